package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/store/storetest/disktest"
)

const (
	// diskSize takes what the contacts of this test write a few times over, in bytes.
	diskSize = 64 << 20
	// fulls is how often the disk is full.
	fulls = 3
)

// Holds docs/spec/15-storage.md: the disk of a SQLite file is full again and again while three
// contacts write. Meanwhile messages are handed off and /ready says why; nothing that was
// accepted is lost, no text goes to another contact, and the service goes on by itself when
// there is room.
func TestDiskFullUnderLoad(t *testing.T) {
	d := newDeployment(t)
	d.relax()
	disk := disktest.New(t, filepath.Join(d.folder, "data"), diskSize)
	d.program = append(disk.Command(), "manychat-agent")
	p := d.serve()
	disk.Of(p.cmd.Process.Pid)

	enough := d.load()
	for range fulls {
		d.events(30)
		disk.Fill()
		d.says(http.StatusServiceUnavailable, "the disk that holds the database is full")
		handed := d.handoffs()
		d.events(30)
		if now := d.handoffs(); now == handed {
			t.Error("nobody was handed off while the disk was full")
		}
		d.says(http.StatusServiceUnavailable, "the disk that holds the database is full")
		disk.Free()
		d.says(http.StatusOK, "")
		handed = d.handoffs()
		d.events(30)
		if now := d.handoffs(); now > handed+len(offerings) { // one a contact may have been on its way
			t.Errorf("%d messages were handed off when there was room again", now-handed)
		}
	}
	enough()
	d.handedOff()
	d.settled()
	for id, offering := range offerings {
		if again := d.repeated(id, offering); again > 0 {
			t.Errorf("%s was shown %d answers again", id, again)
		}
	}
}

// handoffs are those that all contacts were shown.
func (d *deployment) handoffs() (n int) {
	for id := range offerings {
		n += d.copies(id)
	}
	return n
}

// says waits until /ready answers with a status, and looks at its detail.
func (d *deployment) says(status int, detail string) {
	d.t.Helper()
	err := eventually(func() error {
		resp, err := http.Get(d.url + "/ready")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var said struct{ Detail string }
		if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
			return err
		}
		if resp.StatusCode != status || detail != "" && said.Detail != detail {
			return fmt.Errorf("/ready answers %s, %q", resp.Status, said.Detail)
		}
		return nil
	})
	if err != nil {
		d.t.Error(err)
	}
}
