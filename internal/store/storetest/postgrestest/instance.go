package postgrestest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// Shutdown is how a server is stopped, as pg_ctl names it.
type Shutdown string

// The two ways of stopping that do not wait for whoever is connected.
const (
	Fast      Shutdown = "fast"      // transactions are undone, and what was committed is written out
	Immediate Shutdown = "immediate" // as if it had crashed: the next start recovers from its log
)

// unprivileged is the user that Debian's packages make for the server, which refuses to run as root.
const unprivileged = "postgres"

// Instance is a server of a test's own, which can be stopped and started. It waits for the
// disk with every commit, as servers do.
type Instance struct {
	t        testing.TB
	programs string // the folder with initdb and pg_ctl
	data     string
	port     int
	as       *syscall.Credential // nil: as whoever runs the test
}

// Own starts a server on 127.0.0.1, with an empty database "postgres"; it is gone with the
// test. Where its programs are not installed the test is skipped, but under CI=true it fails.
func Own(t testing.TB) *Instance {
	t.Helper()
	s := &Instance{t: t, programs: programs(t)}
	if os.Geteuid() == 0 {
		s.as = credential(t)
	}
	// The parents of a folder of t.TempDir are closed to other users.
	folder, err := os.MkdirTemp("", "postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if s.as != nil {
		if err := os.Chown(folder, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.data = filepath.Join(folder, "data")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	s.run("initdb", "--pgdata="+s.data, "--username=root", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	s.Start()
	t.Cleanup(func() { s.Stop(Immediate) })
	return s
}

// URL is the address of its database.
func (s *Instance) URL() string {
	u := url.URL{Scheme: "postgres", User: url.User("root"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/postgres"}
	return u.String()
}

// Start starts the server and returns when it takes connections.
func (s *Instance) Start() {
	s.t.Helper()
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=on -c synchronous_commit=on", s.port)
	s.run("pg_ctl", "start", "--wait", "--pgdata="+s.data, "--log="+s.data+".log", "--options="+options)
}

// Stop stops the server and returns when it is gone.
func (s *Instance) Stop(how Shutdown) {
	s.t.Helper()
	s.run("pg_ctl", "stop", "--wait", "--pgdata="+s.data, "--mode="+string(how))
}

// run runs one of the server's programs. What it prints goes to a file: a server that it
// starts would keep a pipe open.
func (s *Instance) run(program string, args ...string) {
	s.t.Helper()
	out, err := os.CreateTemp(s.t.TempDir(), program)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(context.Background(), preparedWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, program), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(s.data), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		log, _ := os.ReadFile(s.data + ".log")
		s.t.Errorf("%s %v: %v\n%s%s", program, args, err, said, log)
	}
}

// programs is where the newest of the installed servers is.
func programs(t testing.TB) string {
	t.Helper()
	if found, err := exec.LookPath("pg_ctl"); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil && filepath.Base(real) == "pg_ctl" {
			return filepath.Dir(real)
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		missing := "no PostgreSQL server is installed (Debian's package postgresql), so none can be stopped and started"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return filepath.Dir(slices.Max(found))
}

func credential(t testing.TB) *syscall.Credential {
	t.Helper()
	found, err := user.Lookup(unprivileged)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
