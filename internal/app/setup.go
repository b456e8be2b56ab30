package app

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// What an operator does about requests that a mistake in the set-up makes
// (docs/spec/02-inbound.md, "Request body" and "Errors"). Whoever reads a request without
// TLS can send it again.
const (
	plainAdvice      = "put a TLS proxy in front and name its address in TRUST_PROXY, or set TLS_CERT_FILE and TLS_KEY_FILE"
	unrenderedAdvice = "in ManyChat's Dynamic Block, pick the contact's id from the list of variables, or send Full Contact Data"
)

// mistakes counts the requests with the secret that say that something is set up wrong.
// dev's come over loopback without TLS on purpose.
type mistakes struct {
	log        *slog.Logger
	dev        bool
	plain      atomic.Int64 // came without TLS, as far as anybody vouches for it
	unrendered atomic.Int64 // named the contact by an unrendered variable
}

// camePlain notes a request without TLS.
func (m *mistakes) camePlain() {
	if !m.dev && m.plain.Add(1) == 1 {
		m.log.Warn("a request with the secret came over plain HTTP: " + plainAdvice)
	}
}

// count looks for a mistake among the endpoint's events.
func (m *mistakes) count(event string) {
	if event == body.UnrenderedID && m.unrendered.Add(1) == 1 {
		m.log.Warn("a request named no contact but a variable: " + unrenderedAdvice)
	}
}

// detail is what /ready says of them; empty when there were none.
func (m *mistakes) detail() string {
	var all []string
	if n := m.plain.Load(); n > 0 {
		all = append(all, fmt.Sprintf("%d requests came with the secret over plain HTTP: %s", n, plainAdvice))
	}
	if n := m.unrendered.Load(); n > 0 {
		all = append(all, fmt.Sprintf("%d requests named no contact but a variable: %s", n, unrenderedAdvice))
	}
	return strings.Join(all, "; ")
}

// warn says at boot what every request of a service will be.
func (m *mistakes) warn(c config.Config) {
	if !m.dev && c.Public.TLSCertFile == "" && len(c.Turn.TrustProxy) == 0 {
		m.log.Warn("no TLS: " + plainAdvice)
	}
}
