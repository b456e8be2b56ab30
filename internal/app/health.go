package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app/openapi"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

// readyWithin is how long the database may take to answer a readiness check.
const readyWithin = 2 * time.Second

// status is what /health and /ready say.
type status struct {
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"` // what is not ready, or not as it should be
}

// health says that the process is up.
func (s *Service) health(w http.ResponseWriter, _ *http.Request) {
	writeStatus(w, http.StatusOK, status{Status: "ok"})
}

// ready says whether the service should be sent requests, and names what is missing.
func (s *Service) ready(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.stopping:
		writeStatus(w, http.StatusServiceUnavailable, status{"unavailable", "shutting down"})
		return
	default:
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()
	if err := s.db.Ping(ctx); err != nil {
		s.opts.Log.Error("not ready", "error", err)
		writeStatus(w, http.StatusServiceUnavailable, status{"unavailable", trouble(err)})
		return
	}
	writeStatus(w, http.StatusOK, status{"ready", s.mistakes.detail()})
}

// trouble is what anybody may know of why the database is not ready.
func trouble(err error) string {
	switch {
	case errors.Is(err, store.ErrDiskFull):
		return "the disk that holds the database is full"
	case errors.Is(err, store.ErrIO):
		return "the disk that holds the database reports errors"
	case errors.Is(err, store.ErrReadOnly), errors.Is(err, store.ErrUnwritable):
		return "the database cannot be written"
	}
	return "the database does not answer"
}

func writeStatus(w http.ResponseWriter, code int, s status) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(s) // whoever asked is gone
}

// describeAPI writes the document that /openapi.json serves.
func (s *Service) describeAPI(c config.Config) (err error) {
	s.api, err = openapi.New(openapi.Config{
		Version: Version, BaseURL: c.Public.BaseURL.Reveal(), Console: c.Console.APIKey != "", Status: status{},
	})
	return err
}

// recordedTurns shows the console one tenant's turns.
type recordedTurns struct {
	db       *store.DB
	tenantID string
}

func (r recordedTurns) RecentTurns(ctx context.Context, id contact.SubscriberID, limit int) ([]console.Recorded, error) {
	recent, err := r.db.RecentTurns(ctx, r.tenantID, id, limit)
	if err != nil {
		return nil, err
	}
	all := make([]console.Recorded, len(recent))
	for i, t := range recent {
		all[i] = console.Recorded{Turn: t.Turn, Deliveries: t.Deliveries}
	}
	return all, nil
}
