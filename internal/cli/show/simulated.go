package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
)

// Simulated is what a simulated message led to, as JSON.
type Simulated struct {
	Replies  []string       `json:"replies"` // what the phone shows; what a flow shows begins with its id
	Path     string         `json:"path"`    // inline, outbox or silent
	Millis   float64        `json:"millis"`
	Recorded *SimulatedTurn `json:"recorded,omitempty"` // not known of a service that does not show it
	Warnings []string       `json:"warnings,omitempty"`
}

// SimulatedTurn is the part of the recorded turn that the terminal shows.
type SimulatedTurn struct {
	Turn          string          `json:"turn,omitempty"` // empty: its database is gone when the command ends
	State         string          `json:"state"`
	Outcome       string          `json:"outcome"`
	Reason        string          `json:"escalationReason,omitempty"`
	Model         string          `json:"model,omitempty"`
	Interventions []string        `json:"interventions,omitempty"`
	Actions       []action.Record `json:"actions,omitempty"`
	Deliveries    []string        `json:"deliveries,omitempty"`
}

// SimulatedOf is a reply and what was recorded. Kept means that the turn can be looked up
// afterwards.
func SimulatedOf(r sandbox.Reply, kept bool) Simulated {
	s := Simulated{Replies: r.Texts, Path: r.Path, Millis: float64(r.Took.Microseconds()) / 1000, Warnings: r.Warnings}
	t := r.Turn
	if t == nil {
		return s
	}
	s.Recorded = &SimulatedTurn{
		State: t.State, Outcome: t.Outcome, Reason: t.Reason, Model: t.Model,
		Interventions: t.Interventions, Deliveries: t.Deliveries,
	}
	if kept {
		s.Recorded.Turn = t.ID
	}
	for _, a := range t.Actions {
		s.Recorded.Actions = append(s.Recorded.Actions, action.Record{
			Tool: action.Kind(a.Tool), ID: a.ID, Value: a.Value, Length: a.Length, Status: action.Status(a.Status),
			Error: a.Error, Origin: action.Origin(a.Origin), ContactAsked: a.ContactAsked, At: a.At,
		})
	}
	return s
}

// Messages prints what the phone shows, a message a line or more.
func (s Simulated) Messages(w io.Writer) error {
	for _, r := range s.Replies {
		if _, err := fmt.Fprintln(w, r); err != nil {
			return err
		}
	}
	return nil
}

// Facts are lines about a reply: how it came, and what was recorded with it.
func (s Simulated) Facts() []string {
	facts := fmt.Sprintf("%s, %.1f ms", s.Path, s.Millis)
	r := s.Recorded
	if r == nil {
		return []string{"[" + facts + "]"}
	}
	ended := r.Outcome
	if ended == "" {
		ended = r.State
	}
	facts += ", " + ended
	if r.Reason != "" {
		facts += " for " + r.Reason
	}
	if r.Turn != "" {
		facts += ", turn " + r.Turn
	}
	lines := []string{"[" + facts + "]"}
	for _, a := range r.Actions {
		line := "action: " + string(a.Tool) + what(a.ID, a.Value, a.Length) + ", " + status(a.Status)
		if why := reasons(a); why != "" {
			line += ": " + why
		}
		lines = append(lines, line)
	}
	lines = append(lines, hints(r.Actions)...)
	for i, l := range lines {
		lines[i] = printable(l)
	}
	return lines
}

// Message is one message on the phone, as a line: what a flow shows begins with the flow's
// id, and the titles of its cards stand before its words.
func Message(flow string, titles []string, text string) string {
	words := strings.Join(titles, ", ")
	if words != "" && text != "" {
		words += ": "
	}
	words += text
	if flow == "" {
		return words
	}
	return "[flow " + flow + "] " + words
}
