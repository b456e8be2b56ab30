package app

// Reload reads the tenant's files again and puts them in force for the messages that
// come from now on; a turn in flight keeps what it started with. Files that are not
// valid change nothing, and the error, which is logged as well, lists their problems.
func (s *Service) Reload() error {
	t, err := Business(s.opts.Config, 0)
	if err != nil {
		s.opts.Log.Error("reload refused, what was in force stays", "error", err)
		return err
	}
	s.inForce.Store(t)
	s.opts.Log.Info("configuration reloaded", "hash", t.Hash[:12])
	if keys := t.WithoutEffect(); len(keys) > 0 {
		s.opts.Log.Warn("configured without effect in this version", "keys", keys)
	}
	return nil
}

// Reload reloads the service's tenant; see [Service.Reload].
func (d *Dev) Reload() error { return d.service.Reload() }
