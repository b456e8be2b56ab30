package app

import (
	"errors"
	"path/filepath"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Reload reads the tenant's files again and puts them in force for the messages that
// come from now on; a turn in flight keeps what it started with. Files that are not
// valid change nothing, and the error lists their problems, which are logged one by one.
func (s *Service) Reload() error {
	t, err := Business(s.opts.Config, 0)
	if err != nil {
		s.refuse(err)
		return err
	}
	s.enforce(t)
	return nil
}

// enforce puts a configuration in force, and says what of it an operator should know.
func (s *Service) enforce(t *tenant.Tenant) {
	s.inForce.Store(t)
	s.opts.Log.Info("configuration reloaded", "hash", t.Hash[:12], "agent", t.Allowed())
	for _, sentence := range misnamed(s.opts.Config) {
		s.opts.Log.Warn(sentence)
	}
	if keys := t.WithoutEffect(); len(keys) > 0 {
		s.opts.Log.Warn("configured without effect in this version", "keys", keys)
	}
}

// refuse logs what is wrong with files, a line each, and that they change nothing.
func (s *Service) refuse(err error) {
	var problems tenant.Problems
	if !errors.As(err, &problems) {
		s.opts.Log.Error("reload refused, what was in force stays", "error", err)
		return
	}
	for _, p := range problems {
		s.opts.Log.Error("the configuration is not valid", "problem", p.String())
	}
	s.opts.Log.Error("reload refused, what was in force stays", "folder", filepath.Clean(s.opts.Config.Folders.Config))
}
