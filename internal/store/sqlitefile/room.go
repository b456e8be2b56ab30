package sqlitefile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// room is what [Room] asks for, in bytes: a turn writes some 100 KiB when it is alone.
const room = 1 << 20

// Room reports whether the disk of a database takes some more, by a file beside it that is
// gone when it returns: [ErrDiskFull] when it does not.
func Room(path string) error {
	err := fill(path + ".room")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", ErrUnwritable, err)
	}
	return fmt.Errorf("%w: %w", ErrIO, err)
}

func fill(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, room))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(path))
}
