package show_test

import (
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// rowOf is a dead row; part makes it that part of a handoff notice.
func rowOf(kind outbox.Kind, part string, why outbox.Reason, last string) outbox.Row {
	r := outbox.Row{ID: "row-1", Kind: kind, Status: outbox.Dead, Reason: why, LastError: last}
	if part != "" {
		r.Payload.Actions = []action.Pending{{Tool: action.NotifyHandoff, ID: part}}
	}
	return r
}

// settings are what the advice about a row may name. What it does not name of them is no
// setting of what the row delivers.
var settings = []string{
	"MANYCHAT_REPLY_FIELD", "MANYCHAT_REPLY_FLOW_NS", "MANYCHAT_TOKEN_FIELD", "HANDOFF_WEBHOOK_SECRET", "OUTBOX_MAX_AGE_MIN",
	"rules.handoff.tag", "rules.handoff.flowNs", "rules.handoff.webhook",
}

// Holds docs/spec/05-delivery.md, "Outbox": a dead letter is explained by what it was to
// deliver and by what it was told: what to look at, and at nothing else.
func TestAdvice(t *testing.T) {
	const (
		rejected, unknown, exhausted, stale = outbox.ReasonRejected, outbox.ReasonUnknown, outbox.ReasonExhausted, outbox.ReasonStale
		reply, token, notice                = outbox.Reply, outbox.ContactToken, outbox.HandoffNotice
		field, flow                         = `manychat: setCustomFieldByName "subscriber_x": rejected, status 400: Validation error`, `manychat: sendFlow "content1": rejected, status 400: Validation error`
		tag                                 = `manychat: addTagByName "subscribers": rejected, status 400: Tag not found`
		stranger                            = ", status 400: Subscriber does not exist"
		late, server                        = "the reply is 361m old", "manychat: sendFlow: server, status 500"
		again, forget                       = "outbox retry row-1", "outbox discard row-1"
	)
	tests := []struct {
		name  string
		row   outbox.Row
		names string   // of settings
		says  []string // besides
	}{
		{"a reply's field", rowOf(reply, "", rejected, field), "MANYCHAT_REPLY_FIELD", []string{"of type text", again}},
		{"a reply's flow", rowOf(reply, "", rejected, flow), "MANYCHAT_REPLY_FLOW_NS", []string{"published flow", again}},
		{"a reply to nobody", rowOf(reply, "", rejected, "manychat: sendFlow: rejected"+stranger), "", []string{"does not know the contact", "text is not in the chat", again, forget}},
		{"a reply refused otherwise", rowOf(reply, "", rejected, "no"), "", []string{"what its message says", again}},
		{"a reply whose answer was lost", rowOf(reply, "", unknown, server), "", []string{"the text may have arrived", "contact's chat", again}},
		{"a reply that never worked", rowOf(reply, "", exhausted, server), "", []string{"When ManyChat answers again", again}},
		{"a reply that is old", rowOf(reply, "", stale, late), "OUTBOX_MAX_AGE_MIN", []string{"contact still waits", again}},

		{"a token's field", rowOf(token, "", rejected, field), "MANYCHAT_TOKEN_FIELD", []string{"of type text", again}},
		{"a token of nobody", rowOf(token, "", rejected, "manychat: setCustomFieldByName: rejected"+stranger), "", []string{"does not know the contact", again, forget}},
		{"a token that is stuck", rowOf(token, "", unknown, "too many"), "", []string{"next message brings another token", forget}},
		{"a token that never worked", rowOf(token, "", exhausted, server), "", []string{"When ManyChat answers again", again, "next message brings another token"}},
		{"a token that is old", rowOf(token, "", stale, late), "OUTBOX_MAX_AGE_MIN", []string{"next message brings another token", again}},

		{"a tag", rowOf(notice, "tag", rejected, tag), "rules.handoff.tag", []string{"account has a tag", again}},
		{"a tag of nobody", rowOf(notice, "tag", rejected, "manychat: addTagByName: rejected"+stranger), "", []string{"without the tag", again, forget}},
		{"a tag that is configured no more", rowOf(notice, "tag", rejected, "no longer configured"), "rules.handoff.tag", []string{"rules.json any more", again, forget}},
		{"a tag of unknown outcome", rowOf(notice, "tag", unknown, server), "", []string{"does no harm", again}},
		{"a tag that never worked", rowOf(notice, "tag", exhausted, server), "rules.handoff.tag", []string{"When ManyChat answers again", again}},
		{"a tag that is old", rowOf(notice, "tag", stale, late), "OUTBOX_MAX_AGE_MIN", []string{"nobody has taken care", again}},

		{"a notice's flow", rowOf(notice, "flow", rejected, flow), "rules.handoff.flowNs", []string{"published flow", again}},
		{"a notice's flow for nobody", rowOf(notice, "flow", rejected, "manychat: sendFlow: rejected"+stranger), "", []string{"nobody was told", again, forget}},
		{"a flow that is configured no more", rowOf(notice, "flow", rejected, "no longer configured"), "rules.handoff.flowNs", []string{again, forget}},
		{"a notice's flow whose answer was lost", rowOf(notice, "flow", unknown, server), "rules.handoff.flowNs", []string{"your people may have been told", again}},
		{"a notice's flow that never worked", rowOf(notice, "flow", exhausted, server), "rules.handoff.flowNs", []string{"When ManyChat answers again", again}},
		{"a notice's flow that is old", rowOf(notice, "flow", stale, late), "OUTBOX_MAX_AGE_MIN", []string{"nobody has taken care", again}},

		{"a webhook that moved", rowOf(notice, "webhook", rejected, "webhook: desk.example answered 302"), "rules.handoff.webhook", []string{"302", "redirects are not followed", again}},
		{"a webhook that refuses the signature", rowOf(notice, "webhook", rejected, "webhook: desk.example answered 401"), "HANDOFF_WEBHOOK_SECRET rules.handoff.webhook", []string{"401", "signature", again}},
		{"a webhook that is gone", rowOf(notice, "webhook", rejected, "webhook: desk.example answered 410"), "rules.handoff.webhook", []string{"410", again}},
		{"a webhook that refuses", rowOf(notice, "webhook", rejected, "webhook: subscriber.example answered 422"), "HANDOFF_WEBHOOK_SECRET rules.handoff.webhook", []string{"422", "log", again}},
		{"a webhook that cannot be called", rowOf(notice, "webhook", rejected, "webhook: the address is not an https URL"), "rules.handoff.webhook", []string{"Nothing was posted", again}},
		{"a webhook that is configured no more", rowOf(notice, "webhook", rejected, "no longer configured"), "HANDOFF_WEBHOOK_SECRET rules.handoff.webhook", []string{again, forget}},
		{"a webhook of unknown outcome", rowOf(notice, "webhook", unknown, ""), "", []string{"does no harm", again}},
		{"a webhook that never worked", rowOf(notice, "webhook", exhausted, "webhook: desk.example: no answer in time"), "rules.handoff.webhook", []string{"When it answers again", again}},
		{"a webhook that is old", rowOf(notice, "webhook", stale, late), "OUTBOX_MAX_AGE_MIN", []string{"nobody has taken care", again}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := show.Advice(tt.row)
			for _, s := range tt.says {
				if !strings.Contains(got, s) {
					t.Errorf("%q is not said: %s", s, got)
				}
			}
			for _, s := range settings {
				if named := strings.Contains(got, s); named != strings.Contains(tt.names, s) {
					t.Errorf("%s is named: %v: %s", s, named, got)
				}
			}
			if kind := tt.row.Kind; kind != outbox.Reply && (strings.Contains(got, "reply field") || strings.Contains(got, "text may")) {
				t.Errorf("a %s is spoken of as a reply: %s", kind, got)
			}
			if strings.Contains(tt.name, "webhook") && strings.Contains(got, "ManyChat") {
				t.Errorf("ManyChat is blamed: %s", got)
			}
		})
	}
}

// A request whose answer was lost may have done its work, whatever ended the row.
func TestAdviceAfterALostAnswer(t *testing.T) {
	for _, why := range []outbox.Reason{outbox.ReasonExhausted, outbox.ReasonStale} {
		reply, flow := rowOf(outbox.Reply, "", why, "x"), rowOf(outbox.HandoffNotice, "flow", why, "x")
		reply.Payload.Unknown, flow.Payload.Unknown = 1, 1
		if got := show.Advice(reply); !strings.Contains(got, "the text may have arrived") {
			t.Errorf("%s: %s", why, got)
		}
		if got := show.Advice(flow); !strings.Contains(got, "the flow may have been started") {
			t.Errorf("%s: %s", why, got)
		}
	}
}

// Rows that are not dead need advice where nobody but an operator can help.
func TestAdviceOfOtherRows(t *testing.T) {
	waits := outbox.Row{ID: "row-1", Kind: outbox.Reply, Status: outbox.Pending, LastError: "manychat: sendFlow: unauthorized, status 401: Wrong token"}
	kept := outbox.Row{ID: "row-1", Kind: outbox.Reply, Status: outbox.Withheld}
	if got := show.Advice(waits); !strings.Contains(got, "MANYCHAT_API_TOKEN") {
		t.Error(got)
	}
	if got := show.Advice(kept); !strings.Contains(got, "outbox retry row-1") || !strings.Contains(got, "outbox discard row-1") {
		t.Error(got)
	}
	waits.LastError = "manychat: sendFlow: server, status 500"
	for _, row := range []outbox.Row{waits, {Kind: outbox.Reply, Status: outbox.Delivered}} {
		if got := show.Advice(row); got != "" {
			t.Error(got)
		}
	}
}
