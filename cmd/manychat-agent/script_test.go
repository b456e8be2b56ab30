package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	demo "github.com/manychat-agent/manychat-agent/config"
)

// answersWithin bounds every wait of these tests; nothing is measured by it.
const answersWithin = 30 * time.Second

// noRaceSleep keeps a program built with the race detector from sleeping for a second
// before it exits.
const noRaceSleep = "GORACE=atexit_sleep_ms=0"

// TestMain makes this binary the program whenever it is run under its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"manychat-agent": main})
}

// Holds README.md, "Exit codes", and docs/spec/16-operations.md: what an operator
// types and reads. Each script runs in a folder and an environment of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, noRaceSleep)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"scaffold": scaffold,
			"freeport": freePort,
			"occupy":   occupy,
			"await":    await,
			"post":     post,
			"until":    until,
			"sql":      statements,
		},
	})
}

// exits CODE COMMAND ARG... runs a command and expects its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want || neg {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scaffold DIR writes the demo tenant's files under the names of a tenant's own.
func scaffold(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(writeDemo(ts.MkAbs(args[0])))
}

// writeDemo writes the committed examples without their suffix.
func writeDemo(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	const suffix = ".example"
	examples, err := fs.Glob(demo.Demo, "*"+suffix)
	if err != nil {
		return err
	}
	for _, name := range examples {
		data, err := demo.Demo.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(name, suffix)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeFrontDesk writes the demo tenant's files without its sale, for what is not about that: a
// reply is then all that a question about a price comes to.
func writeFrontDesk(t *testing.T, dir string) {
	t.Helper()
	if err := writeDemo(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tools.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	front, _, found := strings.Cut(string(text), `"events": [`)
	front = strings.NewReplacer(`"intent": true`, `"intent": false`, `"funnel": true`, `"funnel": false`, `"role": "opening",`, "").Replace(front)
	if !found || strings.Contains(front, "opening") {
		t.Fatal("the demo's tools have another order")
	}
	if err := os.WriteFile(file, []byte(front+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// freePort VARIABLE finds a port that nobody listens on.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	ln := listen(ts)
	ts.Setenv(args[0], fmt.Sprint(ln.Addr().(*net.TCPAddr).Port))
	ts.Check(ln.Close())
}

// occupy VARIABLE listens on a port for the rest of the script.
func occupy(ts *testscript.TestScript, _ bool, args []string) {
	ln := listen(ts)
	ts.Setenv(args[0], fmt.Sprint(ln.Addr().(*net.TCPAddr).Port))
	ts.Defer(func() { _ = ln.Close() })
}

func listen(ts *testscript.TestScript) net.Listener {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	return ln
}

// await URL waits until a service answers there with 200.
func await(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(poll(func() error {
		resp, err := http.Get(args[0])
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", args[0], resp.Status)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}))
}

// poll asks until there is no error, and returns the last one when it takes too long.
func poll(ask func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(answersWithin)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-late:
			return err
		}
	}
}

// post URL KEY=VALUE... sends a form of the phone page, as its script does.
func post(ts *testscript.TestScript, _ bool, args []string) {
	form := url.Values{}
	for _, pair := range args[1:] {
		key, value, _ := strings.Cut(pair, "=")
		form.Set(key, value)
	}
	resp, err := http.PostForm(args[0], form)
	ts.Check(err)
	ts.Check(resp.Body.Close())
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("%s answers %s", args[0], resp.Status)
	}
}

// until TEXT COMMAND ARG... runs a command until it prints the text.
func until(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(poll(func() error {
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			return err
		}
		if !strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return fmt.Errorf("%q is not printed", args[0])
		}
		return nil
	}))
}

// statements DATABASE FILE changes a database behind the program's back.
func statements(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(ts.ReadFile(args[1]))
	ts.Check(errors.Join(err, db.Close()))
}
