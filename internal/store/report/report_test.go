package report_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales/measure"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/report"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// both runs a test on an empty database of either kind.
func both(t *testing.T, test func(t *testing.T, b *book)) {
	for name, address := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "agent.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Open(t) },
	} {
		t.Run(name, func(t *testing.T) {
			db, err := database.Open(t.Context(), database.Options{URL: address(t), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			test(t, &book{t: t, db: db, tenant: "demo"})
		})
	}
}

// book writes a fixture into a database.
type book struct {
	t      *testing.T
	db     *database.DB
	tenant string
	n      int64
}

func (b *book) exec(query string, args ...any) {
	b.t.Helper()
	_, err := database.Write(b.t.Context(), b.db, func(tx *groupcommit.Tx) (struct{}, error) {
		_, err := tx.Exec(query, args...)
		return struct{}{}, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// someone is a contact of the fixture.
type someone struct {
	*book
	id    string
	since time.Time
	seq   int64
}

func (b *book) contact(id string, since time.Time, intent contact.Intent, stage contact.FunnelStage) *someone {
	b.n++
	b.exec(`INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, intent, stage, created_at) VALUES ($1, $2, 'whatsapp', $3, 0, $4, $5, $6)`,
		id, b.tenant, fmt.Sprint(900000000+b.n), string(intent), string(stage), since.UnixMicro())
	return &someone{book: b, id: id, since: since}
}

// did adds a turn some time behind their first message, with what it did.
func (s *someone) did(after time.Duration, did ...action.Record) *someone {
	s.t.Helper()
	for i := range did {
		did[i].At = s.since.Add(after)
		if did[i].Status == "" {
			did[i].Status = action.Performed
		}
	}
	text, err := json.Marshal(did)
	if err != nil {
		s.t.Fatal(err)
	}
	s.turn(after, "answered", "said", string(text))
	return s
}

func (s *someone) turn(after time.Duration, outcome, text, actions string) (id string) {
	s.seq += 2
	id = fmt.Sprintf("%s-%03d", s.id, s.seq)
	s.exec(`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state, attempt, outcome, path, settled_at,
		responded_at, model, tokens_in, tokens_cached, tokens_out, cost_micros, actions, replies)
		VALUES ($1, $1, $2, $3, 'agent', $4, 1, 0, $5, $6, 'settled', 1, $7, 'inline', $6, $6, 'mock:demo', 100, 40, 10, 250, $8, '[]')`,
		id, s.tenant, s.id, s.seq, text, s.since.Add(after).UnixMicro(), outcome, actions)
	return id
}

// wrote adds a message of theirs.
func (s *someone) wrote(after time.Duration) *someone {
	id := s.turn(after, "answered", "said", "[]")
	s.exec(`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at) VALUES ($1, $2, $3, $4, 'contact', $5, 1, 0, 'hello', $6)`,
		id+"-m", id, s.tenant, s.id, s.seq-1, s.since.Add(after).UnixMicro())
	return s
}

// nudged adds a follow-up that was sent, and says text; empty: it was withdrawn on its way.
func (s *someone) nudged(after time.Duration, text string) *someone {
	id := s.turn(after, "nudge_sent", text, "[]")
	at := s.since.Add(after).UnixMicro()
	s.exec(`INSERT INTO nudges (id, tenant_id, conversation_id, turn_id, delay, message_at, due_at, state, nudge_id, created_at, ended_at)
		VALUES ($1, $2, $3, $1, 'later', $4, $4, 'sent', $1, $4, $4)`, id, s.tenant, s.id, at)
	return s
}

func stage(s contact.FunnelStage) action.Record {
	return action.Record{Tool: action.SetField, ID: "stage", Value: string(s), Mark: contact.MarkFunnel}
}

func link(asked bool) action.Record {
	return action.Record{Tool: action.SendFlow, ID: "payment_link", ContactAsked: asked}
}

const day = 24 * time.Hour

// fill writes a fixture that is counted by hand in the tests.
func fill(b *book) (since time.Time) {
	first := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday
	second := first.Add(7 * day)
	b.contact("ana", first.Add(time.Hour), contact.Prospect, contact.LinkSent).
		did(10*time.Minute, stage(contact.Qualifying)).did(20*time.Minute, stage(contact.Nurturing)).
		did(time.Hour, stage(contact.Offered)).did(2*time.Hour, stage(contact.Prepared)).
		did(3*time.Hour, link(false), stage(contact.LinkSent))
	// Ben was offered something at once, and answered his second follow-up; the first was withdrawn.
	b.contact("ben", first.Add(6*day+23*time.Hour), contact.Prospect, contact.Offered).
		did(30*time.Minute, stage(contact.Offered)).nudged(3*time.Hour, "").nudged(4*time.Hour, "Still there?").wrote(27 * time.Hour)
	b.contact("cy", first.Add(2*day), contact.NotProspect, "").did(time.Minute, action.Record{Tool: action.SetField, ID: "intent", Value: "not_prospect", Mark: contact.MarkIntent})
	b.contact("dee", first.Add(3*day), "", "")

	b.contact("eve", second, contact.Prospect, contact.LinkSent).did(5*time.Minute, link(true), stage(contact.LinkSent))
	failed := stage(contact.Offered)
	failed.Status = action.Failed
	b.contact("fay", second.Add(day), contact.Prospect, contact.Qualifying).
		did(time.Hour, stage(contact.Qualifying)).did(2*time.Hour, failed).nudged(4*time.Hour, "Still there?").wrote(29 * time.Hour)
	b.contact("gus", second.Add(2*day), contact.Prospect, contact.Offered) // whose turns are kept no more

	b.contact("of-before", first.Add(-time.Second), contact.Prospect, contact.LinkSent).did(time.Hour, link(true), stage(contact.LinkSent))
	b.tenant = "another"
	b.contact("of-another", second, contact.Prospect, contact.LinkSent).did(time.Hour, link(true), stage(contact.LinkSent))
	b.tenant = "demo"
	return first
}

// Holds docs/spec/08-sales.md, "Measures", on a fixture counted by hand.
func TestMeasures(t *testing.T) {
	both(t, func(t *testing.T, b *book) {
		since := fill(b)
		contacts, err := report.In(b.db).Contacts(t.Context(), "demo", since)
		if err != nil {
			t.Fatal(err)
		}
		want := []measure.Week{{
			Monday: since.Add(7 * day), Contacts: 3, // eve, fay, gus
			Prospects: measure.Share{N: 3, Of: 3},
			Links:     measure.Share{N: 1, Of: 3}, // eve
			Paying:    measure.Share{N: 1, Of: 3},
			Bypassed:  measure.Share{N: 1, Of: 1},
			Replies:   measure.Share{N: 0, Of: 1}, // fay wrote an hour too late
			Steps: []measure.Step{
				{Stage: contact.Qualifying, Came: measure.Share{N: 3, Of: 3}, Median: time.Hour, TimesOf: 1}, // fay's time
				{Stage: contact.Nurturing, Came: measure.Share{N: 2, Of: 3}},
				{Stage: contact.Offered, Came: measure.Share{N: 2, Of: 2}},
				{Stage: contact.Prepared, Came: measure.Share{N: 1, Of: 2}},
				{Stage: contact.LinkSent, Came: measure.Share{N: 1, Of: 1}, Median: 5 * time.Minute, TimesOf: 1},
			},
		}, {
			Monday: since, Contacts: 4, // ana, ben, cy, dee
			Prospects: measure.Share{N: 2, Of: 4},
			Links:     measure.Share{N: 1, Of: 4},
			Paying:    measure.Share{N: 1, Of: 2},
			Bypassed:  measure.Share{N: 0, Of: 1},
			Replies:   measure.Share{N: 1, Of: 1}, // ben
			Steps: []measure.Step{
				{Stage: contact.Qualifying, Came: measure.Share{N: 2, Of: 2}, Median: 10 * time.Minute, TimesOf: 1},
				{Stage: contact.Nurturing, Came: measure.Share{N: 2, Of: 2}, Median: 20 * time.Minute, TimesOf: 1},
				{Stage: contact.Offered, Came: measure.Share{N: 2, Of: 2}, Median: 45 * time.Minute, TimesOf: 2}, // of 1 h and 30 min
				{Stage: contact.Prepared, Came: measure.Share{N: 1, Of: 2}, Median: 2 * time.Hour, TimesOf: 1},
				{Stage: contact.LinkSent, Came: measure.Share{N: 1, Of: 1}, Median: 3 * time.Hour, TimesOf: 1},
			},
		}}
		if diff := cmp.Diff(want, measure.Weeks(contacts)); diff != "" {
			t.Errorf("the weeks (-want +got):\n%s", diff)
		}
		all := measure.All(contacts)
		if all.Monday != since || all.Contacts != 7 || all.Prospects != (measure.Share{N: 5, Of: 7}) || all.Bypassed != (measure.Share{N: 1, Of: 2}) {
			t.Errorf("together they are %+v", all)
		}
		if none, err := report.In(b.db).Contacts(t.Context(), "demo", since.Add(30*day)); err != nil || len(none) != 0 {
			t.Errorf("later there are %v, %v", none, err)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": what was spent is told by
// days of UTC.
func TestSpend(t *testing.T) {
	both(t, func(t *testing.T, b *book) {
		since := fill(b)
		b.exec(`INSERT INTO budget_days (tenant_id, day, tokens_spent, micros_spent) VALUES ('demo', $1, 700, 1500)`, since.Unix()/86400)
		spent, charged, err := report.In(b.db).Spend(t.Context(), "demo", since.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		// Ana's five turns; the turn of whoever wrote a second before the first day, an hour later, counts too.
		want := report.Spent{Day: since, Model: "mock:demo", Turns: 6, Read: 600, Cached: 240, Written: 60, CostMicros: 1500}
		if got := spent[len(spent)-1]; got != want {
			t.Errorf("the first day is %+v, want %+v", got, want)
		}
		if got := charged[since]; got != (report.Charged{Tokens: 700, Micros: 1500}) || len(charged) != 1 {
			t.Errorf("charged were %+v", charged)
		}
	})
}
