package tool

import (
	"context"
	_ "embed" // the description
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/clean"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

//go:embed get_contact.md
var getContactText string

// The bounds of docs/spec/07-tools.md, "The tools".
const (
	maxReads   = 2
	readWithin = 1500 * time.Millisecond
	// mostRead is how much of a note is told, in code points: people may have written more
	// than the 500 that a note of the agent's has at most.
	mostRead = 1000
)

// readTold is what is told of a contact that could be read.
type readTold struct {
	Available bool              `json:"available"`
	Tags      []string          `json:"tags"`
	Fields    map[string]string `json:"fields"`
	Notes     map[string]string `json:"notes"` // fenced
}

func (d *Desk) getContact() *offered {
	known := readable(d.turn.Tools)
	if d.turn.Contact == nil || known.empty() {
		return nil
	}
	describe := func() (string, []form.Property) {
		return strings.TrimSpace(getContactText) + "\n\n" + known.lines(), nil
	}
	return d.offer(sheet{kind: action.GetContact, describe: describe}, func(c action.Call, _ form.Arguments) Outcome {
		if d.reads == maxReads {
			return d.refuse(c, answer{action.AnsweredUnread, readOften})
		}
		d.reads++
		c.Answer = action.AnsweredUnread // unless it says otherwise before the desk closes
		t := &traced{call: c}
		d.trace = append(d.trace, t)
		return Outcome{Run: func(ctx context.Context) any { return d.readContact(ctx, known, t) }}
	})
}

// readContact reads the contact and returns what the model is told.
func (d *Desk) readContact(ctx context.Context, known profile, t *traced) any {
	told, ok := d.profile(ctx, known)
	if !ok {
		return answer{kind: action.AnsweredUnread}.told()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.result == nil {
		t.call.Answer, d.read = action.AnsweredRead, form.Encode(told)
	}
	return told
}

// profile reads the contact within its time. A reader that breaks has read nothing.
func (d *Desk) profile(ctx context.Context, known profile) (told readTold, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	defer func() {
		if recover() != nil {
			told, ok = readTold{}, false
		}
	}()
	p, err := d.turn.Contact.Read(ctx)
	if err != nil {
		return readTold{}, false
	}
	return d.tell(p, known), true
}

// tell keeps of a contact what is configured, and fences what people wrote.
func (d *Desk) tell(p contact.Profile, known profile) readTold {
	told := readTold{Available: true, Tags: []string{}, Fields: map[string]string{}, Notes: map[string]string{}}
	for _, t := range known.tags {
		if slices.Contains(p.Tags, t.ID) {
			told.Tags = append(told.Tags, t.ID)
		}
	}
	for _, f := range known.fields {
		value, set := p.Fields[f.ID]
		switch {
		case !set:
		case slices.Contains(known.values[f.ID], value):
			told.Fields[f.ID] = value
		default:
			told.Fields[f.ID] = contact.OtherValue
		}
	}
	for _, n := range known.notes {
		if text, written := p.Notes[n.ID]; written && d.turn.Fence != nil {
			told.Notes[n.ID] = d.turn.Fence(clean.Cut(text, mostRead))
		}
	}
	return told
}
