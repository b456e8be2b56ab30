// Package report reads what reports count: how contacts came along in a sale, and what was spent.
package report

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales/measure"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
)

// selectContacts reads who first wrote since an instant. What is known of them as buyers
// outlives their turns.
const selectContacts = `
SELECT id, created_at, intent, stage, offering FROM conversations
WHERE tenant_id = $1 AND created_at >= $2
ORDER BY created_at, id`

// selectActions reads what was done in their turns, oldest first.
const selectActions = `
SELECT t.conversation_id, t.actions FROM conversations c JOIN turns t ON t.conversation_id = c.id
WHERE c.tenant_id = $1 AND c.created_at >= $2 AND t.role = 'agent' AND t.actions IS NOT NULL AND t.actions <> '[]'
ORDER BY t.conversation_id, t.seq`

// selectFollowUps reads the follow-ups that went out to them, and whether they wrote within
// a time behind each. One that was withdrawn on its way has said nothing.
const selectFollowUps = `
SELECT n.conversation_id, EXISTS (SELECT 1 FROM turns m WHERE m.conversation_id = n.conversation_id AND m.role = 'contact'
    AND m.received_at > n.ended_at AND m.received_at <= n.ended_at + $3)
FROM conversations c JOIN nudges n ON n.conversation_id = c.id JOIN turns t ON t.id = n.nudge_id AND t.text <> ''
WHERE c.tenant_id = $1 AND c.created_at >= $2 AND n.state = 'sent'
ORDER BY n.conversation_id`

// selectSpent adds up what calls of each model cost, by days of UTC.
const selectSpent = `
SELECT received_at / 86400000000, model, count(*), sum(tokens_in), sum(tokens_cached), sum(tokens_out), sum(cost_micros)
FROM turns
WHERE tenant_id = $1 AND role = 'agent' AND model <> '' AND received_at >= $2
GROUP BY received_at / 86400000000, model
ORDER BY 1 DESC, 2`

// selectCharged reads what counts against the caps of a day.
const selectCharged = `
SELECT day, tokens_spent, micros_spent FROM budget_days WHERE tenant_id = $1 AND day >= $2`

// Reports reads a database.
type Reports struct{ db *database.DB }

// In returns the reports of a database.
func In(db *database.DB) *Reports { return &Reports{db} }

// Contacts are those of a tenant who first wrote at since or later, oldest first.
func (r *Reports) Contacts(ctx context.Context, tenantID string, since time.Time) ([]measure.Contact, error) {
	contacts, err := r.contacts(ctx, tenantID, since)
	if err != nil {
		return nil, fmt.Errorf("read how sales went: %w", database.Explain(err))
	}
	return contacts, nil
}

func (r *Reports) contacts(ctx context.Context, tenantID string, since time.Time) ([]measure.Contact, error) {
	from := column.Micros(since)
	at := map[string]int{}
	rows, err := r.db.Read().QueryContext(ctx, selectContacts, tenantID, from)
	all, err := database.Collect(rows, err, func(row database.Row) (c measure.Contact, err error) {
		var id string
		c.Reached = map[contact.FunnelStage]time.Time{}
		err = row.Scan(&id, column.Instant(&c.Since), &c.Sale.Intent, &c.Sale.Stage, &c.Sale.Offering)
		at[id] = len(at)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	rows, err = r.db.Read().QueryContext(ctx, selectActions, tenantID, from)
	_, err = database.Collect(rows, err, func(row database.Row) (none struct{}, err error) {
		var id, text string
		if err := row.Scan(&id, &text); err != nil {
			return none, err
		}
		var did []action.Record
		if err := json.Unmarshal([]byte(text), &did); err != nil {
			return none, fmt.Errorf("the actions of a turn: %w", err)
		}
		if i, known := at[id]; known { // who came since is in the next report
			note(&all[i], did)
		}
		return none, nil
	})
	if err != nil {
		return nil, err
	}
	rows, err = r.db.Read().QueryContext(ctx, selectFollowUps, tenantID, from, measure.AnswerWithin.Microseconds())
	_, err = database.Collect(rows, err, func(row database.Row) (none struct{}, err error) {
		var id string
		var answered bool
		err = row.Scan(&id, &answered)
		if i, known := at[id]; known && err == nil {
			all[i].Nudges++
			if answered {
				all[i].Answered++
			}
		}
		return none, err
	})
	return all, err
}

// note adds what a turn's performed actions tell.
func note(c *measure.Contact, did []action.Record) {
	asked, linked := false, false
	for _, a := range did {
		if a.Status != action.Performed {
			continue
		}
		asked = asked || a.Tool == action.SendFlow && a.ContactAsked
		if a.Tool != action.SetField || a.Mark != contact.MarkFunnel {
			continue
		}
		stage := contact.FunnelStage(a.Value)
		if _, before := c.Reached[stage]; !before && !a.At.IsZero() {
			c.Reached[stage] = a.At
		}
		linked = linked || stage == contact.LinkSent
	}
	if linked && !c.Linked {
		c.Linked, c.Asked = true, asked
	}
}

// Spent is what the calls of one model came to on one day.
type Spent struct {
	Day                   time.Time // 00:00 UTC
	Model                 string    // provider:model
	Turns                 int
	Read, Cached, Written int64 // tokens; Cached is a part of Read
	CostMicros            int64 // millionths of a US dollar
}

// Charged is what counts against the caps of a day, calls included that failed.
type Charged struct{ Tokens, Micros int64 }

// Spend is what a tenant's models cost on each day since one, newest first, and what was charged on
// those days.
func (r *Reports) Spend(ctx context.Context, tenantID string, since time.Time) ([]Spent, map[time.Time]Charged, error) {
	since = since.UTC().Truncate(24 * time.Hour)
	rows, err := r.db.Read().QueryContext(ctx, selectSpent, tenantID, column.Micros(since))
	spent, err := database.Collect(rows, err, func(row database.Row) (s Spent, err error) {
		var day int64
		err = row.Scan(&day, &s.Model, &s.Turns, &s.Read, &s.Cached, &s.Written, &s.CostMicros)
		s.Day = dayOf(day)
		return s, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read what was spent: %w", database.Explain(err))
	}
	charged := map[time.Time]Charged{}
	rows, err = r.db.Read().QueryContext(ctx, selectCharged, tenantID, since.Unix()/secondsOfDay)
	_, err = database.Collect(rows, err, func(row database.Row) (none struct{}, err error) {
		var day int64
		var c Charged
		err = row.Scan(&day, &c.Tokens, &c.Micros)
		charged[dayOf(day)] = c
		return none, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read what was spent: %w", database.Explain(err))
	}
	return spent, charged, nil
}

const secondsOfDay = 24 * 60 * 60

// dayOf is a day by its number since 1970, as the budget counts them.
func dayOf(n int64) time.Time { return time.Unix(n*secondsOfDay, 0).UTC() }
