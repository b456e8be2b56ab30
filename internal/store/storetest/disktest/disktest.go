// Package disktest gives a program that a test starts a disk of its own, which fills up and
// has room again when the test says so.
package disktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a file system in memory. Only the program that is started behind [Disk.Command] sees
// it, so that nothing is left of it when that program has ended.
type Disk struct {
	t      testing.TB
	folder string
	size   int // bytes
	pid    int
}

// mounts is what starts a program with a disk mounted; its arguments are the size, the folder,
// and the program with its own.
const mounts = `mount -t tmpfs -o size="$0" tmpfs "$1" && shift && exec "$@"`

// New plans a disk of so many bytes in a folder, which is made. Where mounting is not allowed
// the test is skipped, but under CI=true it fails.
func New(t testing.TB, folder string, size int) *Disk {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	d := &Disk{t: t, folder: folder, size: size}
	trial := d.Command()
	if out, err := exec.Command(trial[0], append(trial[1:], "true")...).CombinedOutput(); err != nil {
		missing := fmt.Sprintf("no file system can be mounted here (Linux, as root or with user namespaces): %v\n%s", err, out)
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return d
}

// Command is what the program and its arguments are put behind. It runs under the process id
// that the command was started with.
func (d *Disk) Command() []string {
	command := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		command = append(command, "--map-root-user")
	}
	return append(command, "sh", "-c", mounts, fmt.Sprint(d.size), d.folder)
}

// Of says as which process the program runs.
func (d *Disk) Of(pid int) { d.pid = pid }

// ballast is the file that takes the room, as the test sees it.
func (d *Disk) ballast() string {
	return filepath.Join("/proc", fmt.Sprint(d.pid), "root", d.folder, "ballast")
}

// Fill leaves no room, to the last page.
func (d *Disk) Fill() {
	d.t.Helper()
	file, err := os.OpenFile(d.ballast(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	for page := make([]byte, 4096); err == nil; {
		_, err = file.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
}

// Free gives back all the room that Fill took.
func (d *Disk) Free() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}
