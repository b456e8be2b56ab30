package manychattest

import (
	"encoding/json"
	"fmt"
)

// snapshotVersion rises when older snapshots can no longer be read.
const snapshotVersion = 1

type snapshot struct {
	Version int             `json:"version"`
	Account json.RawMessage `json:"account"`
}

// Snapshot is the account as JSON: contacts, chats, tags, fields, armed callbacks,
// media and ids. Flows, faults and the log of calls are not in it.
func (s *Server) Snapshot() ([]byte, error) {
	data, err := s.account.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("taking a snapshot: %w", err)
	}
	return json.Marshal(snapshot{Version: snapshotVersion, Account: data})
}

// Restore replaces the account by a snapshot. On an error nothing has changed.
func (s *Server) Restore(data []byte) error {
	var snap snapshot
	if err := json.Unmarshal(data, &snap); err != nil {
		return fmt.Errorf("reading a snapshot: %w", err)
	}
	if snap.Version != snapshotVersion {
		return fmt.Errorf("the snapshot has version %d, this emulator reads version %d", snap.Version, snapshotVersion)
	}
	return s.account.Restore(snap.Account)
}
