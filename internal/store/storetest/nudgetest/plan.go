package nudgetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
)

func testPlanned(t *testing.T, f *fixture) {
	r := f.planned("700001")
	f.wantNudge("pending open")
	at, err := f.text(`SELECT (due_at - message_at) || ' ' || delay || ' ' || turn_id FROM nudges`)
	f.check(err)
	diff(t, "the plan", fmt.Sprint(after.Microseconds(), " later ", r.Turn.ID), at)
}

// One of the same turn takes the place of what is pending.
func testPlannedAgain(t *testing.T, f *fixture) {
	r := f.planned("700001")
	p := plan(r)
	p.Delay, p.After = "tomorrow", 20*time.Hour
	f.check(f.db.Schedule(t.Context(), p))
	f.wantNudge("pending open")
	f.now = f.now.Add(after)
	due, err := f.db.Due(t.Context(), "demo", 10)
	f.check(err)
	diff(t, "due at the first delay", 0, len(due))
	f.now = f.now.Add(20*time.Hour - after)
	d := f.due()
	diff(t, "the delay", "tomorrow", d.Delay)
	if _, err := f.claim(d); err != nil {
		t.Fatal(err)
	}
	p.After = 22 * time.Hour
	if err := f.db.Schedule(t.Context(), p); !errors.Is(err, nudge.ErrOver) {
		t.Errorf("planned while one is under way: %v", err)
	}
}

func testNotPlanned(t *testing.T, f *fixture) {
	for name, tt := range map[string]struct {
		change func(r turn.Recorded)
		want   error
	}{
		"the contact wrote again": {func(r turn.Recorded) { f.say(string(r.Turn.Key.SubscriberID)) }, nudge.ErrOver},
		"a person has them": {func(r turn.Recorded) {
			_, err := f.db.Pause(t.Context(), r.Turn.Key, f.now.Add(time.Hour))
			f.check(err)
		}, nudge.ErrOver},
		"they opted out": {func(r turn.Recorded) {
			f.check(f.exec(`UPDATE conversations SET opted_out_at = 1 WHERE id = $1`, r.Turn.ConversationID))
		}, nudge.ErrOver},
		"it would be due":  {func(turn.Recorded) { f.now = f.now.Add(after) }, nudge.ErrLate},
		"they were erased": {func(turn.Recorded) {}, nudge.ErrOver},
	} {
		f.made++
		r := f.say(fmt.Sprint(700100 + f.made))
		f.answer(r, "Take your time.")
		tt.change(r)
		p := plan(r)
		if name == "they were erased" {
			p.TurnID = "nobody's"
		}
		if err := f.db.Schedule(t.Context(), p); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	n, err := f.text(`SELECT CAST(count(*) AS TEXT) FROM nudges`)
	f.check(err)
	diff(t, "nudges", "0", n)
}

func testDue(t *testing.T, f *fixture) {
	f.planned("700001")
	f.now = f.now.Add(time.Minute)
	f.planned("700002")
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{after - time.Microsecond, 0}, {after, 1}, {after + time.Minute, 2}} {
		f.now = start.Add(step.at)
		due, err := f.db.Due(t.Context(), "demo", 10)
		f.check(err)
		diff(t, fmt.Sprint("due after ", step.at), step.want, len(due))
		if step.want == 2 && due[0].Key != key("700001") {
			t.Errorf("the first that is due is %s's", due[0].Key.SubscriberID)
		}
	}
	one, err := f.db.Due(t.Context(), "demo", 1)
	f.check(err)
	diff(t, "with a limit of one", 1, len(one))
	others, err := f.db.Due(t.Context(), "another", 10)
	f.check(err)
	diff(t, "another tenant's", 0, len(others))
}

func testClaim(t *testing.T, f *fixture) {
	r := f.planned("700001")
	f.now = f.now.Add(after)
	d := f.due()
	diff(t, "due", nudge.Due{ID: d.ID, ConversationID: r.Turn.ConversationID, Key: key("700001"), Delay: "later"}, d)
	claimed, err := f.claim(d)
	f.check(err)
	got := claimed.Recorded
	if !claimed.Runs || got.Turn.State != conversation.Running || !got.Turn.Bound || !got.Turn.Nudge || got.Turn.Owner != "p1" || got.Turn.Attempt != 1 {
		t.Errorf("claimed is %+v", got.Turn)
	}
	diff(t, "its place", r.Turn.Seq+2, got.Turn.Seq)
	diff(t, "the name", "Ada", got.Turn.FirstName)
	diff(t, "when the contact wrote", start, claimed.Facts.MessageAt)
	var history []string
	for _, e := range got.History {
		history = append(history, string(e.Role)+" "+e.Text)
	}
	diff(t, "history", []string{"contact message 1", "agent Take your time."}, history)
	diff(t, "the messages before it", 1, len(got.Recent))
	f.wantNudge("running open")
	n, err := f.text(`SELECT CAST(count(*) AS TEXT) FROM turns WHERE role = 'contact'`)
	f.check(err)
	diff(t, "contact rows", "1", n)
	if _, err := f.claim(d); !errors.Is(err, nudge.ErrGone) {
		t.Errorf("claimed once more: %v", err)
	}
}

func testClaimCallsOff(t *testing.T, f *fixture) {
	for want, change := range map[nudge.Reason]func(id string){
		nudge.WindowClosing: func(string) { f.now = start.Add(nudge.Window + time.Second) },
		nudge.OptedOut:      func(id string) { f.check(f.exec(`UPDATE conversations SET opted_out_at = 1 WHERE id = $1`, id)) },
		nudge.LinkSent:      func(id string) { f.check(f.exec(`UPDATE conversations SET stage = 'link_sent' WHERE id = $1`, id)) },
		nudge.ContactReplied: func(id string) {
			f.check(f.exec(`UPDATE conversations SET last_seq = last_seq + 2 WHERE id = $1`, id))
		},
	} {
		f.now = start
		f.check(f.exec(`DELETE FROM nudges`))
		f.made++
		r := f.planned(fmt.Sprint(700100 + f.made))
		f.now = f.now.Add(after)
		d := f.due()
		change(r.Turn.ConversationID)
		claimed, err := f.claim(d)
		f.check(err)
		if claimed.Runs || claimed.CalledOff != want {
			t.Errorf("called off for %q, runs: %v; want %s", claimed.CalledOff, claimed.Runs, want)
		}
		f.wantNudge("cancelled " + string(want))
	}
	f.now = start
	f.check(f.exec(`DELETE FROM nudges`))
	f.planned("700001")
	f.now = f.now.Add(after)
	d := f.due()
	claimed, err := f.db.ClaimNudge(t.Context(), follow.Claim{NudgeID: d.ID, ConversationID: d.ConversationID, TurnID: "turn-x", Owner: "p1", Unwanted: true})
	f.check(err)
	if claimed.Runs || claimed.CalledOff != "" {
		t.Errorf("an unwanted nudge runs: %v, called off for %q", claimed.Runs, claimed.CalledOff)
	}
	f.wantNudge("skipped")
}

// A turn of the contact that is not over has the lane, which a nudge never waits for.
func testBusyLane(t *testing.T, f *fixture) {
	r := f.planned("700001")
	f.now = f.now.Add(after)
	d := f.due()
	f.check(f.exec(`UPDATE turns SET state = 'running', outcome = NULL, path = NULL, settled_at = NULL, responded_at = NULL WHERE id = $1`, r.Turn.ID))
	claimed, err := f.claim(d)
	f.check(err)
	diff(t, "called off", nudge.ContactReplied, claimed.CalledOff)
	f.wantNudge("cancelled contact_replied")
}

// Of several processes that take a nudge at once one does.
func testClaimedOnce(t *testing.T, f *fixture) {
	other := f.db
	if f.db.Shared() {
		other = f.beside(t)
	}
	for i := range 10 {
		f.planned(fmt.Sprint(700001 + i))
	}
	f.now = f.now.Add(after)
	due, err := f.db.Due(t.Context(), "demo", 100)
	f.check(err)
	diff(t, "due", 10, len(due))
	var mu sync.Mutex
	var wg sync.WaitGroup
	runs := map[string]int{}
	for _, d := range due {
		for p, db := range []*store.DB{f.db, other, f.db, other} {
			wg.Go(func() {
				claimed, err := db.ClaimNudge(context.Background(), follow.Claim{
					NudgeID: d.ID, ConversationID: d.ConversationID, TurnID: fmt.Sprint(d.ID, "-", p), Owner: fmt.Sprint("p", p), Window: turn.Window{HistoryLimit: 10},
				})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && claimed.Runs:
					runs[d.ID]++
				case !errors.Is(err, nudge.ErrGone):
					t.Errorf("claim: %v, %q", err, claimed.CalledOff)
				}
			})
		}
	}
	wg.Wait()
	for _, d := range due {
		diff(t, "turns of "+d.ID, 1, runs[d.ID])
	}
}
