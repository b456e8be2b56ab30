package app

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/config"
)

// plainAdvice is what an operator does about requests without TLS: whoever reads one can
// send it again (docs/spec/02-inbound.md, "Errors").
const plainAdvice = "put a TLS proxy in front and name its address in TRUST_PROXY, or set TLS_CERT_FILE and TLS_KEY_FILE"

// plainRequests counts the requests that came with the secret and without TLS, as far as
// anybody vouches for it. dev's come over loopback on purpose and are not watched.
type plainRequests struct {
	log     *slog.Logger
	watched bool
	count   atomic.Int64
}

func (p *plainRequests) came() {
	if p.watched && p.count.Add(1) == 1 {
		p.log.Warn("a request with the secret came over plain HTTP: " + plainAdvice)
	}
}

// detail is what /ready says of them; empty when there were none.
func (p *plainRequests) detail() string {
	n := p.count.Load()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d requests came with the secret over plain HTTP: %s", n, plainAdvice)
}

// warnPlain says at boot what every request of a service will be.
func (p *plainRequests) warnPlain(c config.Config) {
	if p.watched && c.Public.TLSCertFile == "" && len(c.Turn.TrustProxy) == 0 {
		p.log.Warn("no TLS: " + plainAdvice)
	}
}
