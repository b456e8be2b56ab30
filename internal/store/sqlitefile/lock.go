package sqlitefile

import (
	"fmt"

	"github.com/gofrs/flock"
)

// Lock takes the file lock that a serve or worker holds for its whole life on a SQLite
// database, in PATH.lock beside it: two of them would each believe that the other one's
// turns were left behind by a crash. It fails at once with [ErrInUse] while another
// process holds it; the system frees it when that process ends, however it ends.
// Commands that run beside a service do not take it.
func Lock(path string) (unlock func() error, err error) {
	if err := Prepare(path, false); err != nil {
		return nil, fmt.Errorf("lock database %s: %w", path, err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock database %s: %w: %w", path, ErrUnwritable, err)
	}
	if !locked {
		return nil, fmt.Errorf("lock database %s: %w", path, ErrInUse)
	}
	return lock.Close, nil
}
