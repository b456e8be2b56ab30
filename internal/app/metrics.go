package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
)

// observe adds a settled turn to the metrics.
func (s *Service) observe(t conversation.Turn) {
	s.metrics.Turn(telemetry.TurnFact{
		Outcome: string(t.Outcome), Path: string(t.Path), Nudge: t.Nudge, Bound: t.Bound, Enforced: s.opts.Config.Turn.EnforceTokens,
		Total:    time.Duration(t.Timings.Total) * time.Microsecond,
		TokensIn: t.Spend.TokensIn, TokensCached: t.Spend.TokensCached, TokensOut: t.Spend.TokensOut, CostMicros: t.Spend.CostMicros,
		Interventions: t.Interventions,
	})
}

// came counts an event of the endpoint, which may be an operator's mistake.
func (s *Service) came(event string) {
	s.metrics.Inbound(event)
	s.mistakes.count(event)
}

// camePlain counts an authenticated request without TLS.
func (s *Service) camePlain() {
	s.metrics.Inbound("plain_request")
	s.mistakes.camePlain()
}

// serveMetrics answers on METRICS_ADDR until ctx ends; without one it does nothing. The
// metrics have an address of their own because the service's is on the internet.
func (s *Service) serveMetrics(ctx context.Context) error {
	address := s.opts.Config.Server.MetricsAddr
	if address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on METRICS_ADDR %s: %w; choose another address, or stop what uses it", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerWithin, IdleTimeout: idleFor, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	s.opts.Log.Info("metrics are served", "address", listener.Addr().String())
	s.background.Go(func() { _ = server.Serve(listener) }) // it ends when it is closed
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}
