package app

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
)

// welcome is what a newcomer is told of the business that answers.
type welcome struct {
	business string // its name
	files    string // where it was read from
	question string // one to ask it
	model    string // what answers
}

func newWelcome(o DevOptions) welcome {
	folder := filepath.Clean(o.Config.Folders.Config)
	w := welcome{business: o.Tenant.Catalog.BusinessName, files: "read from " + folder, model: "a model that costs nothing"}
	if m := o.Config.Agent.Model; m.Provider != config.Mock {
		w.model = "the model " + m.String()
	}
	if m := o.Config.Agent.FallbackModel; m != (config.Model{}) {
		w.model += ", with the fallback " + m.String()
	}
	if demoStandsIn(o.Config) {
		w.files, w.question = "built in, since "+folder+" holds no files of a business", "how much is the wheel course?"
	} else if offerings := o.Tenant.Catalog.Offerings; len(offerings) > 0 {
		w.question = "how much is " + offerings[0].Name + "?"
	}
	return w
}

// Welcome tells a newcomer where to click.
func (d *Dev) Welcome(out io.Writer) error {
	_, err := fmt.Fprintf(out, `
  ManyChat AI Agent is running, with a ManyChat of its own and %s.

  The business:     %s, %s
  Open the phone:   %s%s
  Then ask:         %s

  Stop with Ctrl+C; conversations and queued replies are kept.

`, d.welcome.model, d.welcome.business, d.welcome.files, d.URL, sandbox.Path, d.welcome.question)
	return err
}
