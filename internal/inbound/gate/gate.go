// Package gate decides from the headers and the peer of a request whether the rest of it
// is read. A caller with a shared secret comes in; everybody else has a budget per
// address and is refused either way. No byte of a body is looked at.
package gate

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// maxPerMinute is the most that INBOUND_RPM may be (internal/config).
const maxPerMinute = 1_000_000

// Config is what a [Gate] needs; every field but Trusted is required.
type Config struct {
	Secrets   []string       // MANYCHAT_SHARED_SECRET: one, or two during a rotation
	PerMinute int            // INBOUND_RPM: requests without a secret, per address; 1 to 1 000 000
	Trusted   []netip.Prefix // TRUST_PROXY: ranges of IPv4 or IPv6 addresses, none mapped into IPv6
	Now       func() time.Time
}

// Verdict is what a request's headers and its peer are worth. The zero value admits
// nobody.
type Verdict struct {
	Admitted   bool
	Secret     string // the secret that was presented; set with Admitted
	Status     int    // of the refusal: 401 or 429; 0 with Admitted
	RetryAfter int    // seconds until the address may ask again, at least 1; set with 429

	// Plain says that the request came over plain HTTP and that no trusted proxy says
	// that its own caller used https: whoever listens can replay it.
	Plain bool
}

// Gate judges requests; docs/spec/02-inbound.md, "Order of checks", 1 and 2. It may be
// used by many goroutines at once.
type Gate struct {
	keys    [][sha256.Size]byte // SHA-256 of each secret
	proxies proxies
	budgets *budgets
}

// New checks the config.
func New(cfg Config) (*Gate, error) {
	switch {
	case cfg.Now == nil:
		return nil, errors.New("gate: the clock is missing")
	case len(cfg.Secrets) == 0, slices.Contains(cfg.Secrets, ""):
		return nil, errors.New("gate: at least one shared secret must be set, and none may be empty")
	case cfg.PerMinute < 1 || cfg.PerMinute > maxPerMinute:
		return nil, fmt.Errorf("gate: %d requests a minute, must be 1 to %d", cfg.PerMinute, maxPerMinute)
	case slices.ContainsFunc(cfg.Trusted, matchesNone):
		return nil, errors.New("gate: a trusted range is empty or of IPv4 addresses mapped into IPv6")
	}
	return &Gate{
		keys:    digests(cfg.Secrets),
		proxies: cfg.Trusted,
		budgets: newBudgets(cfg.PerMinute, cfg.Now),
	}, nil
}

// Admit compares the secret first, and charges the address only without a valid one:
// all of ManyChat arrives from few addresses.
func (g *Gate) Admit(r *http.Request) Verdict {
	secret, valid := g.secret(r.Header)
	from := g.proxies.origin(r)
	plain := r.TLS == nil && !from.https
	if valid {
		return Verdict{Admitted: true, Secret: secret, Plain: plain}
	}
	if wait := g.budgets.charge(holder(from.client)); wait > 0 {
		return Verdict{Status: http.StatusTooManyRequests, RetryAfter: wholeSeconds(wait), Plain: plain}
	}
	return Verdict{Status: http.StatusUnauthorized, Plain: plain}
}

// secret is the bearer secret that a request presents. It is valid when there is exactly
// one Authorization header and it holds a shared secret.
func (g *Gate) secret(h http.Header) (secret string, valid bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, secret, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	secret = strings.TrimLeft(secret, " ") // the scheme may be followed by several spaces (RFC 9110, section 11.4)
	return secret, g.knows(secret)
}

// knows compares a secret with every shared one in constant time: digests have one
// length whatever was presented, and no comparison is left out.
func (g *Gate) knows(secret string) bool {
	var buf [256]byte // secrets up to this long are hashed without an allocation
	sum := sha256.Sum256(append(buf[:0], secret...))
	match := 0
	for i := range g.keys {
		match |= subtle.ConstantTimeCompare(sum[:], g.keys[i][:])
	}
	return match == 1
}

func digests(secrets []string) [][sha256.Size]byte {
	keys := make([][sha256.Size]byte, len(secrets))
	for i, s := range secrets {
		keys[i] = sha256.Sum256([]byte(s))
	}
	return keys
}

// wholeSeconds rounds up, so that whoever waits as long is not refused again.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
