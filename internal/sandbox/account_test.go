package sandbox_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
)

// Holds docs/spec/13-sandbox.md, "The emulator": a message goes to the entry flow's
// request, with the variables filled in.
func TestWrite(t *testing.T) {
	s := newService(t)
	a := openAccount(t, s, "")
	defer a.Close()
	id, err := a.Ensure("Contact 1")
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := a.Write(t.Context(), id, `line "one"`+"\nline two")
	if err != nil || exchange.Failure != "" {
		t.Fatalf("%v, %s", err, exchange.Reason)
	}
	want := []map[string]any{{"subscriber_id": first, "text": "line \"one\"\nline two", "ai_token": ""}}
	if diff := cmp.Diff(want, s.received); diff != "" {
		t.Errorf("the service received (-want +got):\n%s", diff)
	}
	if again, err := a.Ensure("Another"); again != id || err != nil {
		t.Errorf("a second first contact was made: %s, %v", again, err)
	}
}

// Contacts and chats outlive the process, down to the last bubble.
func TestChatsOutliveTheProcess(t *testing.T) {
	s := newService(t)
	file := filepath.Join(t.TempDir(), "new", "sandbox.json")
	a := openAccount(t, s, file)
	id, err := a.Ensure("Contact 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(context.Background(), id, "hello"); err != nil {
		t.Fatal(err)
	}
	want := a.Chat(id)
	a.Close()

	a = openAccount(t, s, file)
	defer a.Close()
	if diff := cmp.Diff(want, a.Chat(id), cmpopts.EquateApproxTime(0)); diff != "" || len(want) != 2 {
		t.Errorf("after the restart the chat differs (-before +after):\n%s", diff)
	}
	if again, err := a.Ensure("Another"); again != id || err != nil {
		t.Errorf("after the restart the first contact is %s, %v", again, err)
	}
}

// The file is replaced in one step: whoever reads it, at any time, reads all of it.
func TestChatsAreSavedWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.json")
	a := openAccount(t, newService(t), file)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			if _, err := a.AddContact(manychattest.Contact{FirstName: strings.Repeat("x", 1000)}); err != nil {
				t.Error(err)
			}
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if data, err := os.ReadFile(file); err == nil && !json.Valid(data) {
			t.Fatalf("the file holds %d bytes that are not all of a snapshot", len(data))
		}
	}
	a.Close()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil || !cmp.Equal(left, []string{file}) {
		t.Errorf("the folder holds %v, %v; want the file alone", left, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the chats are readable by others: %v, %v", info.Mode(), err)
	}
}

// A file that cannot be read is not overwritten, and the error says what to do.
func TestUnreadableChats(t *testing.T) {
	for name, content := range map[string]string{"garbage": "{", "a newer version": `{"version":99,"account":{}}`, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "sandbox.json")
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := sandbox.OpenAccount(accountOf(newService(t), file))
			if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "delete the file to start without them") {
				t.Errorf("the error is %v", err)
			}
			if data, err := os.ReadFile(file); err != nil || string(data) != content {
				t.Errorf("the file now holds %q, %v", data, err)
			}
		})
	}
	t.Run("a folder that cannot be made", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := sandbox.OpenAccount(accountOf(newService(t), filepath.Join(file, "sandbox.json")))
		if err == nil || !strings.Contains(err.Error(), "DATABASE_URL") {
			t.Errorf("the error is %v", err)
		}
	})
}

// What goes missing is what the replies need, without anyone having to name it.
func TestBreak(t *testing.T) {
	a := openAccount(t, newService(t), "")
	defer a.Close()
	for kind, want := range map[fault.Kind]fault.Fault{
		fault.MissingField: {Kind: fault.MissingField, Name: "ai_message"},
		fault.MissingFlow:  {Kind: fault.MissingFlow, Name: "content20260101000000_000001"},
		fault.Latency:      {Kind: fault.Latency, DelayMS: 3000},
		fault.Dropped:      {Kind: fault.Dropped},
	} {
		if err := a.Break(kind, "", 0); err != nil || !cmp.Equal(a.Faults().Faults, []fault.Fault{want}) {
			t.Errorf("%s sets %+v, %v", kind, a.Faults().Faults, err)
		}
	}
	if err := a.Mend(); err != nil || len(a.Faults().Faults) != 0 {
		t.Errorf("after mending %+v, %v", a.Faults().Faults, err)
	}
}
