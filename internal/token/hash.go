package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// Hash is the SHA-256 of a token as the contact's field holds it.
type Hash [sha256.Size]byte

// HashOf hashes a token.
func HashOf(token string) Hash { return sha256.Sum256([]byte(token)) }

// tokenBytes is the length of a token before it is written as base64url, 43 characters.
const tokenBytes = 32

// mint makes a token.
func mint() (token string, h Hash) {
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, HashOf(token)
}

// MarshalText writes the hash as base64url.
func (h Hash) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, h[:]), nil
}

// UnmarshalText reads what [Hash.MarshalText] wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	b, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil || len(b) != len(h) {
		return errors.New("token: not a hash")
	}
	copy(h[:], b)
	return nil
}
