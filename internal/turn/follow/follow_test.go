package follow_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
)

const (
	after  = 3 * time.Hour
	said   = "Shall I keep a place for you?"
	turnID = "turn-000001"
)

var key = contact.Key{TenantID: "test", Channel: contact.WhatsApp, SubscriberID: "900000001"}

// business plans nudges, and its people have a tag.
func business() *tenant.Tenant {
	return &tenant.Tenant{
		ID: key.TenantID,
		Rules: tenant.Rules{
			Messages: tenant.Messages{Escalation: "A person will answer you."}, ConfidenceThreshold: 0.5, HistoryDays: 30,
			MaxTurnsPerConversation: 25, IdleResetHours: 24, RateLimit: tenant.RateLimit{TurnsPerSubscriberPerHour: 60},
		},
		Tools: &tenant.Tools{Nudge: &tenant.Nudge{Delays: []tenant.Delay{{ID: "later", Minutes: 180}}, HumanActiveTag: "human-active"}},
	}
}

// faulty is the real store, whose methods fail as a test says.
type faulty struct {
	*store.DB
	mu    sync.Mutex
	fails map[string][]error // by method, one a call; nil: the call is made
	calls []string
	taken chan struct{} // closed behind the first claim; nil: nobody looks
}

func (f *faulty) fail(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, method)
	if all := f.fails[method]; len(all) > 0 {
		f.fails[method] = all[1:]
		return all[0]
	}
	return nil
}

func (f *faulty) ClaimNudge(ctx context.Context, c follow.Claim) (follow.Claimed, error) {
	if err := f.fail("claim"); err != nil {
		return follow.Claimed{}, err
	}
	defer func() {
		if f.taken != nil {
			close(f.taken)
		}
	}()
	return f.DB.ClaimNudge(ctx, c)
}

func (f *faulty) Settle(ctx context.Context, s turn.Settlement) error {
	if err := f.fail("settle"); err != nil {
		return err
	}
	return f.DB.Settle(ctx, s)
}

// rig is a follower over a real database, with one contact who is to be followed up.
type rig struct {
	t     *testing.T
	path  string
	db    *faulty
	tags  tags
	f     *follow.Follower
	ends  []string
	seen  []conversation.Outcome
	woken int
}

// tags are the contact's at ManyChat.
type tags struct {
	carried bool
	err     error
	takes   time.Duration
	asked   int
}

func (r *rig) HasTag(ctx context.Context, _ contact.Key, tag string) (bool, error) {
	if r.tags.asked++; tag != "human-active" {
		r.t.Errorf("asked for the tag %q", tag)
	}
	select {
	case <-time.After(r.tags.takes):
		return r.tags.carried, r.tags.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// writer is an agent.
type writer func(ctx context.Context) (agent.Result, error)

// Run fills [turn.Agent].
func (w writer) Run(ctx context.Context, _ agent.Input) (agent.Result, error) { return w(ctx) }

// writes is an agent that takes a while.
func writes(takes time.Duration) writer {
	return func(ctx context.Context) (agent.Result, error) {
		select {
		case <-time.After(takes):
			return agent.Result{Reply: reply.Reply{Messages: []string{said}, Confidence: 1}}, nil
		case <-ctx.Done():
			return agent.Result{}, &agent.Error{Class: agent.Abort, Err: ctx.Err()}
		}
	}
}

// inBubble runs a test with a contact whose nudge is due.
func inBubble(t *testing.T, a turn.Agent, test func(r *rig, d nudge.Due)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "agent.db")
		db, err := store.Open(t.Context(), store.Options{URL: "sqlite:" + path, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		r := &rig{t: t, path: path, db: &faulty{DB: db, fails: map[string][]error{}}}
		shapes, err := delivery.ShapesOf(true)
		if err != nil {
			t.Fatal(err)
		}
		of := business()
		r.f, err = follow.New(follow.Config{
			Store: r.db, Tags: r, Agent: a, Guard: guardrail.New(guardrail.Config{}), Tenant: func() *tenant.Tenant { return of }, Shapes: shapes,
			Owner: func() string { return "p1" }, Wake: func() { r.woken++ }, Observe: func(c conversation.Turn) { r.seen = append(r.seen, c.Outcome) },
			Count: func(end string) { r.ends = append(r.ends, end) }, Room: 8 * time.Second, Abort: 30 * time.Second, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		test(r, r.due())
	})
}

// due is a nudge whose time has come.
func (r *rig) due() nudge.Due {
	r.t.Helper()
	rec := r.message(turnID)
	rec.Turn.Outcome, rec.Turn.Path, rec.Turn.Replies = conversation.Answered, conversation.Silent, nil
	r.check(r.db.DB.Settle(r.t.Context(), turn.Settlement{Turn: rec.Turn}))
	r.check(r.db.Schedule(r.t.Context(), nudge.Plan{ConversationID: rec.Turn.ConversationID, TurnID: turnID, Delay: "later", After: after}))
	time.Sleep(after)
	due, err := r.db.Due(r.t.Context(), key.TenantID, 10)
	r.check(err)
	if len(due) != 1 {
		r.t.Fatalf("%d nudges are due", len(due))
	}
	return due[0]
}

func (r *rig) message(id string) turn.Recorded {
	r.t.Helper()
	rec, err := r.db.Record(r.t.Context(), turn.Arrival{TurnID: id, Key: key, Owner: "p1", Text: "hello " + id, ReceivedAt: time.Now()})
	r.check(err)
	return rec
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// want asserts how the contact's newest turn ended, and what of it is in the outbox.
func (r *rig) want(outcome conversation.Outcome, texts ...string) {
	r.t.Helper()
	turns, err := r.db.RecentTurns(r.t.Context(), key.TenantID, key.SubscriberID, 1)
	r.check(err)
	if got := turns[0]; got.Outcome != outcome {
		r.t.Errorf("the newest turn is %s %s, want %s", got.State, got.Outcome, outcome)
	}
	rows, err := r.db.TurnRows(r.t.Context(), turns[0].ID)
	r.check(err)
	var queued []string
	for _, row := range rows {
		if row.Status == outbox.Pending {
			queued = append(queued, row.Payload.Texts...)
		}
	}
	if !slices.Equal(queued, texts) {
		r.t.Errorf("%q is queued, want %q", queued, texts)
	}
}

// Holds docs/spec/09-nudge.md: the settling transaction is made in the end, however long the
// database is away; a value that it refuses costs the nudge.
func TestSettlesInTheEnd(t *testing.T) {
	away := errors.New("away")
	t.Run("an outage", func(t *testing.T) {
		inBubble(t, writes(time.Second), func(r *rig, d nudge.Due) {
			r.db.fails["settle"] = []error{away, away, away}
			r.check(r.f.Follow(r.t.Context(), d))
			r.want(conversation.NudgeSent, said)
			if !slices.Equal(r.ends, []string{"sent"}) || !slices.Equal(r.seen, []conversation.Outcome{conversation.NudgeSent}) || r.woken != 1 {
				t.Errorf("counted %q, observed %q, woken %d times", r.ends, r.seen, r.woken)
			}
		})
	})
	t.Run("a refusal", func(t *testing.T) {
		inBubble(t, writes(time.Second), func(r *rig, d nudge.Due) {
			r.db.fails["settle"] = []error{turn.ErrRefused}
			r.check(r.f.Follow(r.t.Context(), d))
			r.want(conversation.NudgeSkipped)
		})
	})
	t.Run("a person took over", func(t *testing.T) {
		inBubble(t, writes(time.Second), func(r *rig, d nudge.Due) {
			r.db.fails["settle"] = []error{turn.ErrPaused}
			r.check(r.f.Follow(r.t.Context(), d))
			r.want(conversation.NudgeSkipped)
			if !slices.Equal(r.ends, []string{"paused"}) {
				t.Errorf("counted %q", r.ends)
			}
		})
	})
}

// A claim that fails leaves the nudge as it was, and says so.
func TestClaimFails(t *testing.T) {
	inBubble(t, writes(time.Second), func(r *rig, d nudge.Due) {
		r.db.fails["claim"] = []error{errors.New("away")}
		if err := r.f.Follow(r.t.Context(), d); err == nil {
			t.Error("no error")
		}
		r.want(conversation.Answered)
		r.check(r.f.Follow(r.t.Context(), d))
		r.want(conversation.NudgeSent, said)
		r.check(r.f.Follow(r.t.Context(), d)) // somebody has taken it
		r.want(conversation.NudgeSent, said)
		if r.tags.asked != 1 {
			t.Errorf("ManyChat was asked %d times", r.tags.asked)
		}
	})
}

// Holds docs/spec/09-nudge.md: a message aborts what is under way at once, also one that comes
// right behind the claim, and one that another process recorded is seen when the turn settles.
func TestMessageEndsIt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes time.Duration // the tag's reading
		at    time.Duration // of the message, behind the claim
		here  bool          // in this process
		ends  time.Duration // of the turn, behind the claim
	}{
		{"right behind the claim", time.Second, 0, true, 0},
		{"while the tag is read", 5 * time.Second, 3 * time.Second, true, 3 * time.Second},
		{"while the model writes", time.Second, 11 * time.Second, true, 11 * time.Second},
		{"in another process", time.Second, 11 * time.Second, false, 21 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, writes(20*time.Second), func(r *rig, d nudge.Due) {
				r.tags.takes = tt.takes
				r.db.taken = make(chan struct{})
				began := time.Now()
				go func() {
					<-r.db.taken
					time.Sleep(tt.at)
					rec := r.message("turn-000002")
					if rec.Turn.State != conversation.Running {
						t.Errorf("the message's turn is %s", rec.Turn.State)
					}
					if tt.here {
						r.f.Wrote(rec.Turn.ConversationID)
					}
				}()
				r.check(r.f.Follow(r.t.Context(), d))
				if took := time.Since(began); took != tt.ends {
					t.Errorf("it took %s, want %s", took, tt.ends)
				}
				r.want("")
				if len(r.ends) != 0 || len(r.seen) != 0 {
					t.Errorf("counted %q, observed %q", r.ends, r.seen)
				}
				turns, err := r.db.RecentTurns(r.t.Context(), key.TenantID, key.SubscriberID, 2)
				r.check(err)
				if turns[1].Outcome != conversation.NudgeSkipped || turns[1].Path != conversation.Silent {
					t.Errorf("the nudge's turn is %s by %q", turns[1].Outcome, turns[1].Path)
				}
				synctest.Wait()
			})
		})
	}
}

// The process holds the turn for as long as it works on it, and one that stops leaves it as it is.
func TestHolds(t *testing.T) {
	inBubble(t, writes(20*time.Second), func(r *rig, d nudge.Due) {
		ctx, stop := context.WithCancel(r.t.Context())
		done := make(chan struct{})
		go func() { defer close(done); r.check(r.f.Follow(ctx, d)) }()
		time.Sleep(time.Second)
		turns, err := r.db.RecentTurns(r.t.Context(), key.TenantID, key.SubscriberID, 1)
		r.check(err)
		id := turns[0].ID
		if turns[0].State != conversation.Running || !r.f.Holds(id) {
			t.Errorf("the turn is %s, held: %v", turns[0].State, r.f.Holds(id))
		}
		r.f.Wrote("another conversation")
		stop()
		<-done
		if r.f.Holds(id) {
			t.Error("it is held still")
		}
		r.want("")
	})
}

// Holds docs/spec/09-nudge.md: the tag is read within 10 s, and what was known of it is put right.
func TestTagIsRead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tags  tags
		known bool
		want  string
	}{
		{"absent", tags{}, false, "sent"},
		{"gone", tags{}, true, "sent"},
		{"carried", tags{carried: true}, false, "human_active"},
		{"refused", tags{err: errors.New("rejected")}, false, "read_failed"},
		{"slow", tags{takes: 10*time.Second - time.Millisecond}, false, "sent"},
		{"too slow", tags{takes: 10*time.Second + time.Millisecond}, false, "read_failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, writes(0), func(r *rig, d nudge.Due) {
				r.tags = tt.tags
				if tt.known {
					r.carry()
				}
				r.check(r.f.Follow(r.t.Context(), d))
				if !slices.Equal(r.ends, []string{tt.want}) {
					t.Errorf("it ends %q, want %s", r.ends, tt.want)
				}
				if talk, err := r.db.Talk(r.t.Context(), d.ConversationID); err != nil || talk.TagActive {
					t.Errorf("known to be carried: %v, %v", talk.TagActive, err)
				}
			})
		})
	}
}

// carry makes the contact known to carry the tag, beside everything that would call the nudge off.
func (r *rig) carry() {
	r.t.Helper()
	r.write(`UPDATE conversations SET tag_active = 1`)
}

// write runs a statement beside the store.
func (r *rig) write(query string) {
	r.t.Helper()
	raw, err := sql.Open("sqlite", "file:"+r.path)
	r.check(err)
	defer raw.Close()
	_, err = raw.ExecContext(r.t.Context(), query)
	r.check(err)
}

// The config is checked.
func TestNew(t *testing.T) {
	if _, err := follow.New(follow.Config{}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("an empty config is refused with %v", err)
	}
}

// listener is an agent that keeps what it was told.
type listener struct {
	writer
	told *agent.Input
}

func (l listener) Run(ctx context.Context, in agent.Input) (agent.Result, error) {
	*l.told = in
	return l.writer(ctx)
}

// Holds docs/spec/09-nudge.md and docs/spec/08-sales.md, "Intent": the turn of a nudge knows what is known
// of its contact as a buyer.
func TestKnowsTheSale(t *testing.T) {
	var told agent.Input
	inBubble(t, listener{writes(time.Second), &told}, func(r *rig, d nudge.Due) {
		r.write(`UPDATE conversations SET intent = 'prospect', stage = 'offered', offering = 'intro', offering_chosen = 1`)
		r.check(r.f.Follow(r.t.Context(), d))
		r.want(conversation.NudgeSent, said)
		want := contact.Sale{Intent: contact.Prospect, Stage: contact.Offered, Offering: "intro", Chosen: true}
		if told.Sale != want || told.Offering != "intro" {
			t.Errorf("the model is told %+v, want %+v", told.Sale, want)
		}
	})
}
