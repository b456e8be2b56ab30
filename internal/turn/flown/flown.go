// Package flown keeps the flows that one turn sent: what became of each, and until when the
// last of them plays.
package flown

import (
	"slices"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Flows are those of one turn, those of an earlier try first. It is safe for concurrent use.
type Flows struct {
	tools *tenant.Tools // says how long each plays

	mu     sync.Mutex
	record []action.Record
	plays  time.Time
}

// Of returns the flows of a turn that has sent none yet.
func Of(tools *tenant.Tools) *Flows { return &Flows{tools: tools} }

// Note notes a flow, or what became of one, and when it was accepted until when it plays.
func (f *Flows) Note(r action.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record = with(f.record, r)
	if r.Status != action.Performed {
		return
	}
	if flow, found := f.tools.Flow(r.ID); found {
		if end := r.At.Add(flow.Settle()); end.After(f.plays) {
			f.plays = end
		}
	}
}

// With is the record with one more, or with what became of it.
func (f *Flows) With(r action.Record) []action.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	return with(f.record, r)
}

// with is a record with an entry, which takes the place of the same flow's while that is
// being sent, or of the same entry when that was noted already.
func with(record []action.Record, r action.Record) []action.Record {
	record = slices.Clone(record)
	for i, e := range record {
		if e.ID == r.ID && (e.Status == action.Sending || e == r) {
			record[i] = r
			return record
		}
	}
	return append(record, r)
}

// Resume takes up what an earlier try of the turn did: a flow that was being sent may have
// arrived, and one that was accepted may still play.
func (f *Flows) Resume(record []action.Record) {
	for _, r := range ended(record) {
		f.Note(r)
	}
}

// Record is what the turn sent, as far as it is known now.
func (f *Flows) Record() []action.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	return ended(f.record)
}

// ended is a record in which nothing is under way any more.
func ended(record []action.Record) []action.Record {
	record = slices.Clone(record)
	for i := range record {
		record[i] = record[i].Interrupted()
	}
	return record
}

// Closed is what a desk's calls came to, with what is known of a flow that the desk did not
// wait for.
func (f *Flows) Closed(acts tool.Result) tool.Result {
	known := f.Record()
	for i := 0; i < len(acts.Record); i++ {
		r := acts.Record[i]
		if r.Tool != action.SendFlow || r.Error != action.OutcomeUnknown {
			continue
		}
		if at := slices.IndexFunc(known, func(k action.Record) bool { return k.ID == r.ID && k.Status == action.Performed }); at >= 0 {
			acts.Record[i].Status, acts.Record[i].Error, acts.Record[i].At = known[at].Status, "", known[at].At
			acts = f.followed(acts, i)
		}
	}
	return acts
}

// followed adds what follows a link to pay of whose going out the desk was not told.
func (f *Flows) followed(acts tool.Result, place int) tool.Result {
	flow, _ := f.tools.Flow(acts.Record[place].ID)
	sale := sales.Open(f.tools, acts.Sale, nil)
	link, ok := sale.Paid(flow)
	if !ok {
		return acts
	}
	acts.Sale = sale.Sale()
	record := []action.Record{{
		Tool: action.SetField, ID: link.Field, Value: string(contact.LinkSent), Mark: contact.MarkFunnel, Status: action.Staged,
	}}
	if link.Event != "" {
		record = append(record, action.Record{Tool: action.SendEvent, ID: link.Event, Status: action.Staged})
	}
	acts.Record = slices.Insert(acts.Record, place+1, record...)
	before := 0
	for i := range acts.Pending {
		if acts.Pending[i].Place < place {
			before = i + 1
		} else {
			acts.Pending[i].Place += len(record)
		}
	}
	for i, r := range record {
		p := action.Pending{Place: place + 1 + i, Tool: r.Tool, ID: r.ID, Value: r.Value, FollowOn: true}
		acts.Pending = slices.Insert(acts.Pending, before+i, p)
	}
	return acts
}

// Until is when the last of the accepted flows ends; zero: none was accepted.
func (f *Flows) Until() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.plays
}
