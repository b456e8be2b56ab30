package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
)

// The HTTP server's own limits (docs/deadlines.md); the endpoint bounds the body and
// the response of a message itself.
const (
	headerWithin = 5 * time.Second
	idleFor      = 2 * time.Minute
	maxHeader    = 16 << 10 // bytes
	// drainWithin is how long the server still reads a body that a handler left unread:
	// without it as long as the caller likes, and at once it would cut off the refusal of
	// a body that is on its way.
	drainWithin = time.Second
	// closeWithin is how long requests that came last may take to be answered, once no turn
	// starts any more.
	closeWithin = 2 * time.Second
)

// endsReading bounds what the server reads behind a handler that answered without having
// read the body, such as a refusal or the answer to an unknown route.
func endsReading(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A transport without deadlines is bounded by the server's own.
		defer func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainWithin)) }()
		next.ServeHTTP(w, r)
	})
}

// Listen opens the address to serve on. Its errors say what to do.
func Listen(host string, port int) (net.Listener, error) {
	address := net.JoinHostPort(host, fmt.Sprint(port))
	ln, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program: stop it, or choose another port with PORT", address)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%s may not be listened on: choose a port above 1023 with PORT", address)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w; check HOST and PORT", address, err)
	}
	return ln, nil
}

// MessageURL is the message endpoint of a service at a base URL.
func MessageURL(base string) string { return strings.TrimRight(base, "/") + inbound.MessagePath }

// Front is what the service is reached by.
type Front struct {
	Listener net.Listener
	Handler  http.Handler
	OnStop   func() // ends streams that would outlast every grace; nil: there are none
}

// Serve starts the service, answers until ctx ends, and then stops in order: no new
// requests, the turns in flight for the shutdown grace, the worker.
func (s *Service) Serve(ctx context.Context, f Front) error {
	server := &http.Server{
		Handler:           endsReading(f.Handler),
		ReadHeaderTimeout: headerWithin,
		IdleTimeout:       idleFor,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	if f.OnStop != nil {
		server.RegisterOnShutdown(f.OnStop)
	}
	var err error
	if server.TLSConfig, err = s.certificate(); err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		return errors.Join(err, f.Listener.Close())
	}
	s.mistakes.warn(s.opts.Config)
	s.opts.Log.Info("listening", "address", f.Listener.Addr().String())
	failed := make(chan error, 1)
	go func() { failed <- listen(server, f.Listener) }()
	select {
	case <-ctx.Done():
		s.opts.Log.Info("stopping")
	case err = <-failed:
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Config.Turn.ShutdownGrace)
	defer cancel()
	s.Drain(grace) // the listener stays open: a message that still arrives is safe
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close() // what is left had its grace
	}
	s.HandBack(ctx)
	return err
}

// certificate reads what HTTPS is served with; nil without a TLS_CERT_FILE.
func (s *Service) certificate() (*tls.Config, error) {
	public := s.opts.Config.Public
	if public.TLSCertFile == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(public.TLSCertFile, public.TLSKeyFile)
	if err != nil {
		return nil, fmt.Errorf("TLS_CERT_FILE and TLS_KEY_FILE do not give a certificate: %w; correct the paths or the files", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

func listen(server *http.Server, ln net.Listener) error {
	if server.TLSConfig != nil {
		return server.ServeTLS(ln, "", "")
	}
	return server.Serve(ln)
}

// Work starts the service without an endpoint, and stops it when ctx ends.
func (s *Service) Work(ctx context.Context) error {
	if err := s.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Config.Turn.ShutdownGrace)
	defer cancel()
	s.Drain(grace)
	s.HandBack(ctx)
	return nil
}
