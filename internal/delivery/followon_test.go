package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// Holds docs/spec/07-tools.md, "Performing", and docs/spec/08-sales.md, "Conversion events": a
// follow-on is made behind the action that it follows, and only when that was performed; the next
// action still runs.
func TestFollowOns(t *testing.T) {
	chain := []action.Pending{
		{Tool: action.SendFlow, ID: "prices"}, {Tool: action.SetField, ID: "shift", Value: "evening", FollowOn: true}, {Tool: action.SendEvent, ID: "brochure", FollowOn: true},
		{Tool: action.AddTag, ID: "keen"},
	}
	const flow = `sendFlow {"subscriber_id":"12345678901234567","flow_ns":"content20260101000000_000002"}`
	const field = `setCustomFieldByName {"subscriber_id":"12345678901234567","field_name":"Preferred Shift","field_value":"evening"}`
	const event = `sendFlow {"subscriber_id":"12345678901234567","flow_ns":"content20260101000000_000003"}`
	const tag = `addTagByName {"subscriber_id":"12345678901234567","tag_name":"Interested - Intro"}`
	tests := []struct {
		name     string
		actions  []action.Pending
		faults   []fault.Fault
		ends     []string
		requests []string
	}{
		{"all in a row", chain, nil,
			[]string{"10 performed", "11 performed", "12 performed", "13 performed"}, []string{flow, field, event, tag}},
		{"the first fails", chain, []fault.Fault{{Kind: fault.MissingFlow, Name: priceList}},
			[]string{"10 failed: rejected (400)", "11 discarded", "12 discarded", "13 performed"}, []string{flow, tag}},
		{"nobody knows of the first", chain, []fault.Fault{{Kind: fault.LostAnswer, Path: "/fb/sending/sendFlow"}},
			[]string{"10 failed: outcome unknown", "11 discarded", "12 discarded", "13 performed"}, []string{flow, tag}},
		{"the second fails", chain, []fault.Fault{{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName"}},
			[]string{"10 performed", "11 failed: server error (500)", "12 discarded", "13 performed"}, []string{flow, field, tag}},
		{"the first was performed before", chain[1:], nil,
			[]string{"10 performed", "11 performed", "12 performed"}, []string{field, event, tag}},
		{"it follows none of another place", []action.Pending{{Tool: action.SetField, ID: "shift", Value: "night"}, chain[3], chain[2]}, nil,
			[]string{"10 failed: no longer configured", "11 performed", "12 performed"}, []string{tag, event}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				s.faults(tt.faults...)
				b := batch(slices.Clone(tt.actions)...)
				want(t, "actions", ends(s.p.Perform(s.t.Context(), b)), tt.ends...)
				want(t, "requests", s.calls(), tt.requests...)
				s.keepsQuiet()
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": what follows is discarded with the rest once a
// person has the conversation, and a follow-on that is not made asks for nobody.
func TestFollowOnsAreHeld(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		asked := 0
		b := batch(
			action.Pending{Tool: action.SetField, ID: "shift", Value: "night"}, action.Pending{Tool: action.SendEvent, ID: "brochure", FollowOn: true},
			action.Pending{Tool: action.SetField, ID: "shift", Value: "evening"}, action.Pending{Tool: action.SendEvent, ID: "brochure", FollowOn: true},
		)
		b.Held = func(context.Context) (bool, error) { asked++; return asked > 2, nil }
		got := s.p.Perform(s.t.Context(), b)
		want(t, "actions", ends(got), "10 failed: no longer configured", "11 discarded", "12 performed", "13 discarded")
		if asked != 3 || len(s.rights.claimed) != 0 {
			t.Errorf("asked %d times, claims %v", asked, s.rights.claimed)
		}
	})
}

// Holds docs/spec/08-sales.md, "Conversion events", "Opening", "Stage flows" and "Flows once": an event,
// and a flow that a rule of the server sends, is claimed once and for all; the right to what was
// certainly not sent is given back.
func TestClaimsOfTheSale(t *testing.T) {
	tools := academy()
	tools.Flows[0].OnStage = contact.Offered // the brochure
	tools.Flows[1].OnStage = contact.Prepared
	tools.Flows = append(tools.Flows, tenant.Flow{ID: "hello", FlowNs: offerMade, Role: tenant.RoleOpening})
	claim := func(id string) action.Claim {
		return action.Claim{ConversationID: "conv-1", TurnID: "turn-1", Flow: id}
	}
	repeatable := claim("prices")
	repeatable.Repeatable = true
	for _, c := range []struct {
		name string
		of   action.Pending
		want action.Claim
	}{
		{"an event", action.Pending{Tool: action.SendEvent, ID: "brochure"}, claim("event:brochure")},
		{"the opening", action.Pending{Tool: action.SendFlow, ID: "hello", Origin: action.FromOpening}, claim("hello")},
		{"a stage's flow", action.Pending{Tool: action.SendFlow, ID: "prices", Origin: action.FromStage}, claim("prices")},
		{"a stage's flow that the model calls for", action.Pending{Tool: action.SendFlow, ID: "brochure"}, claim("brochure")},
		{"one that may be had again", action.Pending{Tool: action.SendFlow, ID: "prices"}, repeatable},
	} {
		for became, answer := range map[string]struct {
			refused error
			fault   fault.Kind
			given   int
		}{
			"10 performed":               {},
			"10 failed: already sent":    {refused: fmt.Errorf("claim: %w", action.ErrSent)},
			"10 failed: not recorded":    {refused: errors.New("the disk is full")},
			"10 failed: rejected (400)":  {fault: fault.FalseMissing, given: 1},
			"10 failed: outcome unknown": {fault: fault.LostAnswer},
		} {
			t.Run(c.name+", "+became, func(t *testing.T) {
				onStage(t, 1, func(s *stage) {
					s.rights.answer = answer.refused
					if answer.fault != "" {
						s.faults(fault.Fault{Kind: answer.fault, Path: "/fb/sending/sendFlow"})
					}
					b := batch(c.of)
					b.Tools = tools
					c.want.At = time.Now()
					want(t, "ended", ends(s.p.Perform(s.t.Context(), b)), became)
					if d := cmp.Diff([]action.Claim{c.want}, s.rights.claimed); d != "" {
						t.Errorf("claimed (-want +got):\n%s", d)
					}
					if len(s.rights.released) != answer.given || answer.given == 1 && s.rights.released[0] != c.want {
						t.Errorf("given back: %v", s.rights.released)
					}
					if asked := len(s.calls()) == 1; asked != (answer.refused == nil) {
						t.Errorf("requests: %q", s.calls())
					}
				})
			})
		}
	}
}
