package inbound

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// digests hashes the secrets, so that comparing one takes the same time whatever its
// length.
func digests(secrets []string) [][32]byte {
	keys := make([][32]byte, len(secrets))
	for i, s := range secrets {
		keys[i] = sha256.Sum256([]byte(s))
	}
	return keys
}

// authenticate compares the presented bearer secret with every valid one, in
// constant time, and returns the presented one. It looks at headers alone.
func (h *Handler) authenticate(r *http.Request) (secret string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, secret, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	sum := sha256.Sum256([]byte(secret))
	match := 0
	for _, k := range h.keys {
		match |= subtle.ConstantTimeCompare(sum[:], k[:])
	}
	return secret, match == 1
}
