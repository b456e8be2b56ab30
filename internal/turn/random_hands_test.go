package turn_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// asked is a request of an action that a process made, and what ManyChat did with it.
type asked struct {
	origin
	process, subscriber string
	what                string    // in the account's names, with a value or a note's length
	arrived             time.Time // zero: it did not
	taken               bool      // ManyChat did it
	answered            time.Time // when the process was told that it was done; zero: it was not
}

// origin is what a request is made for.
type origin struct {
	message string // that the turn answers
	of      action.Origin
	part    string // of a notice
}

// The ways in which a turn reaches ManyChat beside its texts.
const (
	inTurn action.Origin = "in the turn"
	behind action.Origin = "behind the reply"
	notice action.Origin = "in a notice"
)

type originKey struct{}

func (o origin) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// whatField names a write of a field: a value by itself, and a note by its length.
func whatField(field, value string) string {
	if len(value) > len("evening") {
		value = fmt.Sprint(utf8.RuneCountInString(value))
	}
	return "field " + field + "=" + value
}

// noticePart names a part of a notice among what may be repeated.
func noticePart(message, part string) string { return "notice of " + message + ": " + part }

// ask is one request of an action under the faults of the seed. One that was on its way
// when its process died, or stopped waiting for it, may arrive all the same.
func (s sender) ask(ctx context.Context, subscriber, what string) error {
	w := s.w
	a := &asked{process: s.name, subscriber: subscriber, what: what}
	a.origin, _ = ctx.Value(originKey{}).(origin)
	stream := "ask " + s.name + " " + a.message + " " + what
	s.here(stream)
	if s.isDead() {
		return errCallDead
	}
	w.phone.asks(a)
	intime := within(ctx, w.slow(stream))
	dead := s.isDead()
	switch {
	case (dead || !intime) && w.dice.chance(stream, 0.5):
		w.trace("%s: %s of %q does not arrive, dead: %t", s.name, what, a.message, dead)
		return &manychat.Error{Kind: manychat.KindTimeout}
	case w.dice.chance(stream, 0.04):
		return s.refuse(a, errServer)
	case w.dice.chance(stream, 0.03):
		return s.refuse(a, errRejected)
	case w.dice.chance(stream, 0.02):
		w.trace("%s: %s of %q is not done, and no answer", s.name, what, a.message)
		return errNoAnswer
	}
	lost := w.dice.chance(stream, 0.04)
	w.phone.takes(a)
	w.ripens(stream)
	w.trace("%s: %s of %q is done, answer lost: %t, dead: %t", s.name, what, a.message, lost || !intime, dead)
	if lost || !within(ctx, w.slow(stream)) {
		w.mayRepeat(noticePart(a.message, a.part))
		return errNoAnswer
	}
	w.phone.answers(a)
	return nil
}

func (s sender) refuse(a *asked, why *manychat.Error) error {
	s.w.trace("%s: %s of %q is refused: %s", s.name, a.what, a.message, why.Kind)
	return why
}

// slow is how long a request takes on one way: like any other, and now and then longer
// than anybody waits.
func (w *world) slow(stream string) time.Duration {
	if w.dice.chance(stream, 0.03) {
		return w.duration(stream, 25*time.Second)
	}
	return w.lag(stream)
}

// within waits for d, and reports false when ctx ends before.
func within(ctx context.Context, d time.Duration) bool { return after(ctx, d) == nil }

func (p *phones) asks(a *asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, a)
}

func (p *phones) takes(a *asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.arrived, a.taken = time.Now(), true
}

func (p *phones) answers(a *asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.answered = time.Now()
}

// AddTagByName fills [delivery.Account].
func (s sender) AddTagByName(ctx context.Context, subscriber, tag string) error {
	return s.ask(ctx, subscriber, "tag "+tag)
}

// RemoveTagByName fills [delivery.Account].
func (s sender) RemoveTagByName(ctx context.Context, subscriber, tag string) error {
	return s.ask(ctx, subscriber, "untag "+tag)
}

// GetInfo fills [delivery.Profiles]: the contact has one tag, and a note that names them.
func (s sender) GetInfo(ctx context.Context, subscriber string) (info manychat.Subscriber, err error) {
	stream := "info " + s.name + " " + subscriber
	switch {
	case s.isDead(), !within(ctx, s.w.slow(stream)):
		return info, errNoAnswer
	case s.w.dice.chance(stream, 0.05):
		return info, errServer
	}
	return manychat.Subscriber{
		Tags:         []manychat.Tag{{Name: "buys-a-gift"}},
		CustomFields: []manychat.CustomField{{Name: "agent_summary", Value: "note of " + subscriber}},
	}, nil
}

// hands are the account as the turns of a process reach it. They note which turn a
// request is of.
type hands struct {
	*process
	performer *delivery.Performer
}

func newHands(p *process, log *slog.Logger) hands {
	performer, err := delivery.New(delivery.Config{Account: sender{p}, Behind: sender{p}, Profiles: sender{p}, Claims: claims{p}, Nudges: p.w.db, Now: time.Now, Log: log})
	if err != nil {
		p.w.t.Fatal(err)
	}
	return hands{p, performer}
}

// Perform fills [turn.Account].
func (h hands) Perform(ctx context.Context, b delivery.Batch) []action.Ended {
	return h.performer.Perform(origin{message: h.w.message(b.Claim.TurnID), of: behind}.in(ctx), b)
}

// SendFlow fills [turn.Account].
func (h hands) SendFlow(ctx context.Context, b delivery.Batch) action.Ended {
	return h.performer.SendFlow(origin{message: h.w.message(b.Claim.TurnID), of: inTurn}.in(ctx), b)
}

// HasTag fills [turn.Account].
func (h hands) HasTag(ctx context.Context, who contact.Key, tag string) (bool, error) {
	return h.performer.HasTag(ctx, who, tag)
}

// Read fills [turn.Account].
func (h hands) Read(ctx context.Context, who contact.Key, tools *tenant.Tools) (contact.Profile, error) {
	return h.performer.Read(ctx, who, tools)
}

// rowHands are the account as the rows of a process reach it.
type rowHands struct{ hands }

// Perform fills [outbox.Actions].
func (h rowHands) Perform(ctx context.Context, row outbox.Row) []action.Ended {
	t := h.w.tenant()
	return h.hands.Perform(ctx, delivery.Batch{
		Who: row.Key, Tools: t.Tools, Actions: row.Payload.Actions,
		Claim: action.Claim{ConversationID: row.ConversationID, TurnID: row.TurnID, Since: turn.HistorySince(t, time.Now())},
	})
}

// Notify fills [outbox.Actions].
func (h rowHands) Notify(ctx context.Context, row outbox.Row, part action.Pending) error {
	ctx = origin{message: h.w.message(row.TurnID), of: notice, part: part.ID}.in(ctx)
	if part.ID == action.NoticeTag {
		return sender{h.process}.AddTagByName(ctx, string(row.Key.SubscriberID), h.w.business.Rules.Handoff.Tag)
	}
	return sender{h.process}.SendFlow(ctx, string(row.Key.SubscriberID), h.w.business.Rules.Handoff.FlowNs)
}

// turnActs is what the turns of a process write down of their actions.
type turnActs struct{ *process }

func (s turnActs) NoteFlow(ctx context.Context, n turn.FlowNote) error {
	about := fmt.Sprint(n.Claim.Flow, " of ", s.w.message(n.TurnID))
	return s.do(ctx, call{method: "note", about: about, owned: true}, func() error {
		err := s.w.db.NoteFlow(ctx, n)
		if err == nil && n.Actions[len(n.Actions)-1].Status == action.Sending {
			s.w.flowLeaves(n)
		}
		return err
	})
}

// flowLeaves checks a flow that is about to be sent.
//
// Holds docs/spec/07-tools.md, "Flows go out before the reply": not while an earlier reply
// of the contact is queued.
func (w *world) flowLeaves(n turn.FlowNote) {
	for _, r := range w.list(outbox.Pending, outbox.Delivering) {
		if r.Kind == outbox.Reply && r.ConversationID == n.Claim.ConversationID && r.TurnID != n.TurnID && w.isBound(r.TurnID) {
			w.violate("%s of %q leaves before %s", n.Claim.Flow, w.message(n.TurnID), w.part(r))
		}
	}
}

func (s turnActs) Acted(ctx context.Context, turnID string, ended []action.Ended) error {
	return s.do(ctx, call{method: "acted", about: s.w.message(turnID), owned: true}, func() error { return s.w.db.Acted(ctx, turnID, ended) })
}

// claims are the rights to flows as a process reaches them.
type claims struct{ *process }

func (s claims) ClaimFlow(ctx context.Context, c action.Claim) error {
	return s.do(ctx, call{method: "claim", about: c.Flow + " of " + s.w.message(c.TurnID)}, func() error { return s.w.db.ClaimFlow(ctx, c) })
}

func (s claims) ReleaseFlow(ctx context.Context, c action.Claim) error {
	return s.do(ctx, call{method: "give back", about: c.Flow + " of " + s.w.message(c.TurnID)}, func() error { return s.w.db.ReleaseFlow(ctx, c) })
}
