package config

import (
	"encoding"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// mask stands for a secret wherever one is printed.
const mask = "[secret]"

// minSecret is the least length of a shared secret; docs/spec/02-inbound.md.
const minSecret = 16

// Secret is a credential. However it is printed, logged or encoded it is masked; only
// [Secret.Reveal] gives it out.
type Secret string

var _ encoding.TextMarshaler = Secret("")

// Reveal is the credential itself.
func (s Secret) Reveal() string { return string(s) }

// String is the mask, or nothing for no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString masks %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue masks log lines.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks JSON and every other encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// errQuoted is a secret that came with the quotes that were meant for a shell, such as
// from a file given to docker run --env-file.
var errQuoted = errors.New("is in quotes, which would be a part of it: write it without them")

func (s *Secret) parse(text string) error {
	if quoted(text) {
		return errQuoted
	}
	*s = Secret(text)
	return nil
}

// quoted reports whether a value begins and ends with the same quote.
func quoted(text string) bool {
	return len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[0] == text[len(text)-1]
}

// isKey reports whether a credential may be a provider's key, which has visible
// characters of ASCII only, and no quotes.
func (s Secret) isKey() bool {
	return !strings.ContainsFunc(string(s), func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\'' })
}

// Secrets are the shared secrets a caller may present: one, or two during a rotation.
type Secrets []Secret

// String is one mask a secret.
func (s Secrets) String() string {
	masks := make([]string, len(s))
	for i, secret := range s {
		masks[i] = secret.String()
	}
	return strings.Join(masks, ",")
}

func (s *Secrets) parse(text string) error {
	if quoted(text) {
		return errQuoted
	}
	parts := strings.Split(text, ",")
	if len(parts) > 2 {
		return fmt.Errorf("holds %d secrets: set one, or two during a rotation, with a comma between them", len(parts))
	}
	for _, part := range parts {
		secret := strings.TrimSpace(part)
		if quoted(secret) {
			return errQuoted
		}
		if len(secret) < minSecret {
			return fmt.Errorf("holds a secret of %d characters: each needs at least %d (openssl rand -hex 32 makes one)", len(secret), minSecret)
		}
		*s = append(*s, Secret(secret))
	}
	return nil
}
