package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const (
	apiToken  = "100000000000001:0123456789abcdef0123456789abcdef"
	ada       = "12345678901234567" // longer than a float64 holds
	bob       = "12345678901234568"
	brochure  = "content20260101000000_000001"
	priceList = "content20260101000000_000002"
	offerMade = "content20260101000000_000003"
	noteText  = "asked for a quiet room"
)

// academy is the configuration; no id is the name that it stands for.
func academy() *tenant.Tools {
	return &tenant.Tools{
		Flows:  []tenant.Flow{{ID: "brochure", FlowNs: brochure}, {ID: "prices", FlowNs: priceList, Repeatable: true}},
		Tags:   []tenant.Tag{{ID: "keen", Tag: "Interested - Intro"}},
		Fields: []tenant.Field{{ID: "shift", Field: "Preferred Shift", Values: []string{"morning", "evening"}}, {ID: "level", Field: "Level No", Values: []string{"1", "2"}}},
		Readable: tenant.Readable{
			Tags:   []tenant.ReadableTag{{ID: "member", Tag: "Member 2026"}},
			Fields: []tenant.ReadableField{{ID: "newsletter", Field: "Gets News", Values: []string{"true", "false"}}, {ID: "city", Field: "Home Town", Values: []string{"Lisbon"}}},
		},
		Notes:  []tenant.Note{{ID: "summary", Field: "Agent Summary", MaxLength: 200, NeverRendered: true}},
		Nudge:  &tenant.Nudge{Delays: []tenant.Delay{{ID: "later", Minutes: 180}}},
		Events: []tenant.Event{{ID: "brochure", Stage: contact.Offered, FlowNs: offerMade}},
	}
}

// rights are flow claims as the database keeps them.
type rights struct {
	mu                sync.Mutex
	claimed, released []action.Claim
	planned           []nudge.Plan
	answer            error // of every claim and plan
}

func (r *rights) Schedule(_ context.Context, p nudge.Plan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned = append(r.planned, p)
	return r.answer
}

func (r *rights) ClaimFlow(_ context.Context, c action.Claim) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claimed = append(r.claimed, c)
	return r.answer
}

func (r *rights) ReleaseFlow(ctx context.Context, c action.Claim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = append(r.released, c)
	return nil
}

// stage is a performer in front of an emulated account, in a synctest bubble.
type stage struct {
	t      *testing.T
	mc     *manychattest.Server
	rights *rights
	logs   bytes.Buffer
	client *manychat.Client
	p      *delivery.Performer
}

// onStage runs a test; scale is of the client's rate limits.
func onStage(t *testing.T, scale float64, test func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		mc, err := manychattest.New(manychattest.Config{Channel: manychat.Messenger, Token: apiToken})
		if err != nil {
			t.Fatal(err)
		}
		defer mc.Close()
		s := &stage{t: t, mc: mc, rights: &rights{}}
		s.furnish()
		client, err := manychat.NewClient(manychat.ClientConfig{Token: apiToken, Transport: manychattest.Transport(mc), RPSScale: scale})
		if err != nil {
			t.Fatal(err)
		}
		s.client = client
		s.p, err = delivery.New(delivery.Config{
			Account: client, Behind: client.For(manychat.Actions), Profiles: client, Claims: s.rights, Nudges: s.rights, Now: time.Now, Log: slog.New(slog.NewJSONHandler(&s.logs, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		test(s)
	})
}

// furnish gives the account what the configuration names, and two contacts.
func (s *stage) furnish() {
	var errs []error
	for _, tag := range []string{"Interested - Intro", "Member 2026", "interested - intro", "Other"} {
		_, err := s.mc.DefineTag(tag)
		errs = append(errs, err)
	}
	for name, kind := range map[string]phone.FieldType{
		"Preferred Shift": phone.Text, "Level No": phone.Number, "Gets News": phone.Boolean, "Home Town": phone.Text, "Agent Summary": phone.Text, "ai_token": phone.Text,
	} {
		_, err := s.mc.DefineField(name, kind)
		errs = append(errs, err)
	}
	s.mc.DefineFlow(phone.Flow{Name: "Brochure", NS: brochure})
	s.mc.DefineFlow(phone.Flow{Name: "Prices", NS: priceList})
	s.mc.DefineFlow(phone.Flow{Name: "Offer made", NS: offerMade})
	for _, id := range []string{ada, bob} {
		_, err := s.mc.AddContact(phone.Contact{ID: id, FirstName: "Ada", LastInteraction: time.Now()})
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) faults(f ...fault.Fault) {
	s.t.Helper()
	if err := s.mc.SetFaults(fault.Set{Faults: f}); err != nil {
		s.t.Fatal(err)
	}
}

func key(subscriber string) contact.Key {
	return contact.Key{TenantID: "demo", Channel: contact.Messenger, SubscriberID: contact.SubscriberID(subscriber)}
}

// since is from when a send counts.
func since() time.Time { return time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC) }

func batch(actions ...action.Pending) delivery.Batch {
	for i := range actions {
		actions[i].Place = 10 + i // not where it is in the batch
	}
	return delivery.Batch{
		Who: key(ada), Tools: academy(), Actions: actions,
		Claim: action.Claim{ConversationID: "conv-1", TurnID: "turn-1", Since: since()},
	}
}

// calls are the requests that came to the account.
func (s *stage) calls() (all []string) {
	for _, c := range s.mc.Calls() {
		all = append(all, c.Path[strings.LastIndex(c.Path, "/")+1:]+" "+c.Body)
	}
	return all
}

// ends is what became of actions, one line each.
func ends(ended []action.Ended) (all []string) {
	for _, e := range ended {
		line := fmt.Sprintf("%d %s", e.Place, e.Status)
		if e.Error != "" {
			line += ": " + e.Error
		}
		all = append(all, line)
	}
	return all
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// keepsQuiet fails when the logs hold what must be nowhere.
func (s *stage) keepsQuiet() {
	s.t.Helper()
	for _, secret := range []string{ada, "Ada", noteText, brochure, priceList, offerMade, "Interested", "Preferred Shift", "Agent Summary", "Subscriber", apiToken[16:]} {
		if strings.Contains(s.logs.String(), secret) {
			s.t.Errorf("the log holds %q:\n%s", secret, &s.logs)
		}
	}
}

// Holds docs/spec/07-tools.md, "The tools", and docs/spec/05-delivery.md, "ManyChat client":
// one request an action, byte for byte, to the turn's contact, in the order staged.
func TestRequestOfEachAction(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		start := time.Now()
		got := s.p.Perform(s.t.Context(), batch(
			action.Pending{Tool: action.WriteNote, ID: "summary", Text: noteText},
			action.Pending{Tool: action.SendFlow, ID: "brochure"},
			action.Pending{Tool: action.AddTag, ID: "keen"},
			action.Pending{Tool: action.SetField, ID: "shift", Value: "evening"},
			action.Pending{Tool: action.RemoveTag, ID: "keen"},
		))
		want(t, "actions", ends(got), "10 performed", "11 performed", "12 performed", "13 performed", "14 performed")
		want(t, "requests", s.calls(),
			`setCustomFieldByName {"subscriber_id":"12345678901234567","field_name":"Agent Summary","field_value":"asked for a quiet room"}`,
			`sendFlow {"subscriber_id":"12345678901234567","flow_ns":"content20260101000000_000001"}`,
			`addTagByName {"subscriber_id":"12345678901234567","tag_name":"Interested - Intro"}`,
			`setCustomFieldByName {"subscriber_id":"12345678901234567","field_name":"Preferred Shift","field_value":"evening"}`,
			`removeTagByName {"subscriber_id":"12345678901234567","tag_name":"Interested - Intro"}`)
		for _, e := range got {
			if e.At.Before(start) || e.At.After(time.Now()) {
				t.Errorf("%d was answered at %v", e.Place, e.At)
			}
		}
		if s.logs.Len() > 0 {
			t.Errorf("successes are logged: %s", &s.logs)
		}
	})
}

// Holds docs/spec/07-tools.md, "The tools": an id whose entry is gone when its action is
// performed, or a value that is not one of its field's, makes no request and no claim.
func TestNoRequestWithoutConfiguration(t *testing.T) {
	tests := []struct {
		name  string
		a     action.Pending
		tools *tenant.Tools
		want  string
	}{
		{"flow", action.Pending{Tool: action.SendFlow, ID: "gone"}, academy(), "no longer configured"},
		{"tag", action.Pending{Tool: action.AddTag, ID: "gone"}, academy(), "no longer configured"},
		{"the name of a tag", action.Pending{Tool: action.RemoveTag, ID: "Interested - Intro"}, academy(), "no longer configured"},
		{"a tag that may only be read", action.Pending{Tool: action.AddTag, ID: "member"}, academy(), "no longer configured"},
		{"field", action.Pending{Tool: action.SetField, ID: "gone", Value: "evening"}, academy(), "no longer configured"},
		{"a value that a model composed", action.Pending{Tool: action.SetField, ID: "shift", Value: "evening, at nine"}, academy(), "no longer configured"},
		{"a field that may only be read", action.Pending{Tool: action.SetField, ID: "city", Value: "Lisbon"}, academy(), "no longer configured"},
		{"note", action.Pending{Tool: action.WriteNote, ID: "shift", Text: noteText}, academy(), "no longer configured"},
		{"no file", action.Pending{Tool: action.AddTag, ID: "keen"}, nil, "no longer configured"},
		{"no file, flow", action.Pending{Tool: action.SendFlow, ID: "brochure"}, nil, "no longer configured"},
		{"nudge", action.Pending{Tool: action.ScheduleNudge, ID: "gone"}, academy(), "no longer configured"},
		{"no file, nudge", action.Pending{Tool: action.ScheduleNudge, ID: "later"}, nil, "no longer configured"},
		{"event", action.Pending{Tool: action.SendEvent, ID: "gone"}, academy(), "no longer configured"},
		{"a flow that is no event", action.Pending{Tool: action.SendEvent, ID: "prices"}, academy(), "no longer configured"},
		{"no file, event", action.Pending{Tool: action.SendEvent, ID: "brochure"}, nil, "no longer configured"},
		{"a record kind", action.Pending{Tool: action.NotifyHandoff, ID: action.NoticeTag}, academy(), "not available"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				b := batch(tt.a)
				b.Tools = tt.tools
				got := s.p.Perform(s.t.Context(), b)
				want(t, "actions", ends(got), "10 failed: "+tt.want)
				if len(s.calls())+len(s.rights.claimed) > 0 || !got[0].At.IsZero() {
					t.Errorf("%d requests, %d claims, answered at %v", len(s.calls()), len(s.rights.claimed), got[0].At)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Performing": a failure is recorded and logged in words that
// hold nothing of the account or the contact, it is not tried again, and the next action
// still runs. A flow's right is given back unless the contact may have it.
func TestEveryFailure(t *testing.T) {
	tests := []struct {
		kind  fault.Kind
		tag   string
		flow  string
		given bool // back
		took  time.Duration
	}{
		{fault.RateLimited, "rate limited", "rate limited", true, 0},
		{fault.ServerError, "server error (500)", "server error (500)", true, 0},
		{fault.ServerErrorHTML, "server error (502)", "server error (502)", true, 0},
		{fault.OKWithError, "rejected (200)", "rejected (200)", true, 0},
		{fault.FalseMissing, "rejected (400)", "rejected (400)", true, 0},
		{fault.Dropped, "outcome unknown", "outcome unknown", false, 0},
		{fault.LostAnswer, "outcome unknown", "outcome unknown", false, 0},
		{fault.Timeout, "outcome unknown", "outcome unknown", false, 60 * time.Second},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				s.faults(fault.Fault{Kind: tt.kind, Path: "/fb/subscriber/addTagByName"}, fault.Fault{Kind: tt.kind, Path: "/fb/sending/sendFlow"})
				start := time.Now()
				got := s.p.Perform(s.t.Context(), batch(
					action.Pending{Tool: action.AddTag, ID: "keen"},
					action.Pending{Tool: action.SendFlow, ID: "brochure"},
					action.Pending{Tool: action.WriteNote, ID: "summary", Text: noteText},
				))
				want(t, "actions", ends(got), "10 failed: "+tt.tag, "11 failed: "+tt.flow, "12 performed")
				if took := time.Since(start).Truncate(time.Second); took != tt.took || len(s.calls()) != 3 {
					t.Errorf("%d requests in %v, want 3 in %v", len(s.calls()), took, tt.took)
				}
				if given := len(s.rights.released) == 1; given != tt.given || len(s.rights.released) > 1 {
					t.Errorf("rights given back: %v", s.rights.released)
				}
				if unanswered := got[0].At.IsZero(); unanswered != (tt.tag == action.OutcomeUnknown) {
					t.Errorf("answered at %v", got[0].At)
				}
				if !strings.Contains(s.logs.String(), `"tool":"add_tag","id":"keen","turn":"turn-1","manychat":{"endpoint":"addTagByName","kind":`) || strings.Count(s.logs.String(), "WARN") != 2 {
					t.Errorf("log is\n%s", &s.logs)
				}
				s.keepsQuiet()
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": what the account no longer has is
// refused, and a slow success is one.
func TestWhatTheAccountSays(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.faults(fault.Fault{Kind: fault.MissingFlow, Name: brochure}, fault.Fault{Kind: fault.MissingField, Name: "Preferred Shift"}, fault.Fault{Kind: fault.SlowSuccess, Path: "/fb/subscriber/addTagByName"})
		got := s.p.Perform(s.t.Context(), batch(
			action.Pending{Tool: action.SendFlow, ID: "brochure"},
			action.Pending{Tool: action.SetField, ID: "shift", Value: "morning"},
			action.Pending{Tool: action.AddTag, ID: "keen"},
		))
		want(t, "actions", ends(got), "10 failed: rejected (400)", "11 failed: rejected (400)", "12 performed")
		s.keepsQuiet()
	})
}

// Holds docs/spec/08-sales.md, "Flows once": a flow is claimed before its request, under
// its id and the turn, and a contact who has it gets no request.
func TestFlowsAreClaimed(t *testing.T) {
	tests := []struct {
		name     string
		answer   error
		want     string
		requests int
	}{
		{"granted", nil, "10 performed", 2},
		{"sent before", fmt.Errorf("claim: %w", action.ErrSent), "10 failed: already sent", 0},
		{"at the limit of flows", fmt.Errorf("claim: %w", action.ErrFlowLimit), "10 failed: not started: flow limit", 0},
		{"no database", errors.New("the disk is full"), "10 failed: not recorded", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				s.rights.answer = tt.answer
				now := time.Now()
				got := s.p.Perform(s.t.Context(), batch(action.Pending{Tool: action.SendFlow, ID: "brochure"}, action.Pending{Tool: action.SendFlow, ID: "prices"}))
				if len(s.calls()) != tt.requests || ends(got)[0] != tt.want {
					t.Errorf("%q after %d requests, want %q after %d", ends(got), len(s.calls()), tt.want, tt.requests)
				}
				of := action.Claim{ConversationID: "conv-1", TurnID: "turn-1", Flow: "brochure", Since: since(), At: now}
				again := of
				again.Flow, again.Repeatable = "prices", true
				for i := range s.rights.claimed {
					s.rights.claimed[i].At = s.rights.claimed[i].At.Truncate(time.Second)
				}
				if diff := cmp.Diff([]action.Claim{of, again}, s.rights.claimed); diff != "" || len(s.rights.released) > 0 {
					t.Errorf("claims (-want +got):\n%s\ngiven back: %v", diff, s.rights.released)
				}
				s.keepsQuiet()
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Performing": the end of the time cuts off the request that
// is under way, whose outcome nobody knows, and what had not begun; a right that a request
// never used is given back all the same.
func TestTheEndOfTheTime(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		s.faults(fault.Fault{Kind: fault.Timeout})
		ctx, cancel := context.WithTimeout(s.t.Context(), 40*time.Second)
		defer cancel()
		start := time.Now()
		got := s.p.Perform(ctx, batch(
			action.Pending{Tool: action.AddTag, ID: "keen"},
			action.Pending{Tool: action.SendFlow, ID: "brochure"},
			action.Pending{Tool: action.SendFlow, ID: "prices"},
			action.Pending{Tool: action.RemoveTag, ID: "keen"},
		))
		want(t, "actions", ends(got), "10 failed: outcome unknown", "11 failed: outcome unknown", "12 failed: not started in time", "13 failed: not started in time")
		if took := time.Since(start); took != 40*time.Second || len(s.calls()) != 2 || len(s.rights.claimed) != 1 || len(s.rights.released) != 0 {
			t.Errorf("%d requests in %v, %d claims, %d given back", len(s.calls()), took, len(s.rights.claimed), len(s.rights.released))
		}
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": actions keep ManyChat's rates, and a
// call's time includes its wait. One that gets no slot in time was not sent.
func TestRatesOfActions(t *testing.T) {
	onStage(t, 0.005, func(s *stage) { // 0.1 flows and 0.05 writes a second
		ctx, cancel := context.WithTimeout(s.t.Context(), 45*time.Second)
		defer cancel()
		var actions []action.Pending
		for range 4 {
			actions = append(actions, action.Pending{Tool: action.AddTag, ID: "keen"})
		}
		actions = append(actions, action.Pending{Tool: action.SendFlow, ID: "prices"}, action.Pending{Tool: action.SendFlow, ID: "prices"})
		got := s.p.Perform(ctx, batch(actions...))
		want(t, "actions", ends(got), "10 performed", "11 performed", "12 performed",
			"13 failed: not started in time", "14 performed", "15 failed: not started in time")
		var at []string
		for _, c := range s.mc.Calls() {
			at = append(at, c.At.Sub(s.mc.Calls()[0].At).String())
		}
		want(t, "requests at", at, "0s", "20s", "40s", "40s")
		if len(s.rights.claimed) != 2 || len(s.rights.released) != 1 {
			t.Errorf("%d claims, %d given back, want 2 and 1", len(s.rights.claimed), len(s.rights.released))
		}
		for _, e := range got {
			if e.At.IsZero() != (e.Status == action.Failed) {
				t.Errorf("%d is %s, answered at %v", e.Place, e.Status, e.At)
			}
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing": a right is given back even when the time is
// over, since the contact would never get the flow otherwise.
func TestRightIsGivenBackAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &rights{}
		p, err := delivery.New(delivery.Config{
			Account: refusing{cancel}, Behind: refusing{cancel}, Profiles: (*manychat.Client)(nil), Claims: r, Nudges: r, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "actions", ends(p.Perform(ctx, batch(action.Pending{Tool: action.SendFlow, ID: "brochure"}))), "10 failed: rejected (400, code 3011)")
		if len(r.released) != 1 || ctx.Err() == nil {
			t.Errorf("%d rights given back", len(r.released))
		}
	})
}

// refusing is an account that refuses flows while the time runs out.
type refusing struct{ end func() }

func (refusing) SetCustomFieldByName(context.Context, string, string, any) error { return nil }
func (refusing) AddTagByName(context.Context, string, string) error              { return nil }
func (refusing) RemoveTagByName(context.Context, string, string) error           { return nil }
func (r refusing) SendFlow(context.Context, string, string) error {
	r.end()
	return &manychat.Error{Kind: manychat.KindRejected, Status: 400, Code: manychat.CodeWindowClosed, Object: brochure, Message: "Ada"}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": one request within ten
// seconds, whose right is the caller's.
func TestSendFlowInATurn(t *testing.T) {
	tests := []struct {
		name   string
		id     string
		faults []fault.Fault
		want   string
		took   time.Duration
	}{
		{"sent", "brochure", nil, "0 performed", 0},
		{"unconfigured", "gone", nil, "0 failed: no longer configured", 0},
		{"refused", "brochure", []fault.Fault{{Kind: fault.MissingFlow, Name: brochure}}, "0 failed: rejected (400)", 0},
		{"no answer", "brochure", []fault.Fault{{Kind: fault.Timeout}}, "0 failed: outcome unknown", 10 * time.Second},
		{"slow success", "brochure", []fault.Fault{{Kind: fault.SlowSuccess}}, "0 failed: outcome unknown", 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				s.faults(tt.faults...)
				start := time.Now()
				got := s.p.SendFlow(s.t.Context(), delivery.Batch{Who: key(bob), Tools: academy(), Claim: action.Claim{Flow: tt.id}})
				want(t, "flow", ends([]action.Ended{got}), tt.want)
				if took := time.Since(start).Truncate(time.Second); took != tt.took || len(s.rights.claimed)+len(s.rights.released) > 0 {
					t.Errorf("took %v, want %v; claims %v, %v", took, tt.took, s.rights.claimed, s.rights.released)
				}
				if calls := s.calls(); len(calls) > 1 || len(calls) == 1 && calls[0] != `sendFlow {"subscriber_id":"12345678901234568","flow_ns":"content20260101000000_000001"}` {
					t.Errorf("requests: %q", calls)
				}
				s.keepsQuiet()
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "The tools": a nudge is a row here and no request, counted from the
// contact's last message; one that is too late for the conversation is none.
func TestNudgeIsPlanned(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer error
		want   string
	}{
		{"planned", nil, "10 performed"},
		{"the conversation went on", fmt.Errorf("plan: %w", nudge.ErrOver), "10 discarded"},
		{"its time has passed", fmt.Errorf("plan: %w", nudge.ErrLate), "10 failed: too late"},
		{"the database is away", errors.New("away"), "10 failed: not recorded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				s.rights.answer = tt.answer
				b := batch(action.Pending{Tool: action.ScheduleNudge, ID: "later"})
				b.Claim.ConversationID, b.Claim.TurnID = "talk", "turn"
				got := s.p.Perform(s.t.Context(), b)
				want(t, "actions", ends(got), tt.want)
				if len(s.calls()) > 0 || !got[0].At.IsZero() {
					t.Errorf("%d requests, answered at %v", len(s.calls()), got[0].At)
				}
				if plan := (nudge.Plan{ConversationID: "talk", TurnID: "turn", Delay: "later", After: 3 * time.Hour}); !slices.Equal(s.rights.planned, []nudge.Plan{plan}) {
					t.Errorf("planned is %+v", s.rights.planned)
				}
			})
		})
	}
}

func TestNewPerformerRefuses(t *testing.T) {
	c, log := &manychat.Client{}, slog.New(slog.DiscardHandler)
	for name, cfg := range map[string]delivery.Config{
		"account":    {Behind: c, Profiles: c, Claims: &rights{}, Nudges: &rights{}, Now: time.Now, Log: log},
		"background": {Account: c, Profiles: c, Claims: &rights{}, Nudges: &rights{}, Now: time.Now, Log: log},
		"profiles":   {Account: c, Behind: c, Claims: &rights{}, Nudges: &rights{}, Now: time.Now, Log: log},
		"claims":     {Account: c, Behind: c, Profiles: c, Nudges: &rights{}, Now: time.Now, Log: log},
		"nudges":     {Account: c, Behind: c, Profiles: c, Claims: &rights{}, Now: time.Now, Log: log},
		"clock":      {Account: c, Behind: c, Profiles: c, Claims: &rights{}, Nudges: &rights{}, Log: log},
		"log":        {Account: c, Behind: c, Profiles: c, Claims: &rights{}, Nudges: &rights{}, Now: time.Now},
	} {
		if _, err := delivery.New(cfg); err == nil {
			t.Errorf("a performer without %s is made", name)
		}
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": what is performed behind replies, of every
// kind, holds up no flow that a turn sends.
func TestTurnsDoNotWaitForActions(t *testing.T) {
	everything := []action.Pending{
		{Tool: action.SendFlow, ID: "prices"}, {Tool: action.AddTag, ID: "keen"}, {Tool: action.RemoveTag, ID: "keen"},
		{Tool: action.SetField, ID: "shift", Value: "evening"}, {Tool: action.WriteNote, ID: "summary", Text: noteText},
	}
	onStage(t, 1, func(s *stage) {
		ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
		defer cancel()
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() { s.p.Perform(ctx, batch(everything[i%len(everything)])) })
		}
		for range 10 {
			start := time.Now()
			got := s.p.SendFlow(ctx, delivery.Batch{Who: key(bob), Tools: academy(), Claim: action.Claim{Flow: "brochure"}})
			if took := time.Since(start); got.Status != action.Performed || took > 200*time.Millisecond {
				t.Errorf("a flow inside a turn took %v: %+v", took, got)
			}
			start = time.Now()
			if err := s.client.SetCustomFieldByName(ctx, bob, "ai_token", "hello"); err != nil || time.Since(start) > 200*time.Millisecond {
				t.Errorf("a reply's write took %v: %v", time.Since(start), err)
			}
		}
		wg.Wait()
	})
}
