package show

import (
	"regexp"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// Advice says what an operator can do about a row; empty: it needs nobody.
func Advice(r outbox.Row) string {
	switch {
	case r.Status == outbox.Withheld:
		return "It is kept back: a person took the contact over. To send it when they are done: conversation resume " + r.ConversationID +
			", and outbox retry " + r.ID + ". To give it up: outbox discard " + r.ID
	case r.Status == outbox.Pending && strings.Contains(said(r), "unauthorized"):
		return "ManyChat refuses the API token. Set MANYCHAT_API_TOKEN to a valid one and start the service again; the row is tried every minute meanwhile."
	}
	switch r.Reason {
	case outbox.ReasonRejected:
		return refused(r)
	case outbox.ReasonUnknown:
		return lost(r)
	case outbox.ReasonExhausted:
		return exhausted(r)
	case outbox.ReasonStale:
		return stale(r)
	}
	return ""
}

// notConfigured is the error of a part that the files of the business hold no more.
const notConfigured = "no longer configured"

// lost is of a row whose requests may have done their work: nobody knows.
func lost(r outbox.Row) string {
	switch object(r) {
	case reply:
		return "ManyChat did not answer twice, so the text may have arrived. Look at the contact's chat in ManyChat before you retry it: outbox retry " + r.ID
	case token:
		return "What became of too many writes of the token is not known, so it is not written any more. Nothing needs to be done: " +
			nextToken + ". To take the row off the list: outbox discard " + r.ID
	case flow:
		return "It is not known, twice, whether the flow of rules.handoff.flowNs was started, so your people may have been told. " +
			"Look whether it did its work before you start it again: outbox retry " + r.ID
	}
	return "It may have been done. To do it again does no harm: outbox retry " + r.ID
}

// nextToken is why the loss of a token is no harm for long.
const nextToken = "the contact's next message brings another token"

// exhausted is of a row that had all its tries.
func exhausted(r outbox.Row) string {
	again := " When ManyChat answers again: outbox retry " + r.ID
	switch object(r) {
	case token:
		return "Every try failed." + again + ". Without it, " + nextToken
	case tag:
		return "Every try to add the tag of rules.handoff.tag failed." + again
	case flow:
		return "Every try to start the flow of rules.handoff.flowNs failed." + perhaps(r, "the flow may have been started: look whether it did its work first") + again
	case hook:
		return "The receiver at rules.handoff.webhook took none of the tries. When it answers again: outbox retry " + r.ID +
			". Should it have the notice already, it knows it by its webhook-id."
	}
	return "Every try failed." + perhaps(r, "the text may have arrived: look at the contact's chat in ManyChat first") + again
}

// stale is of a row that waited too long.
func stale(r outbox.Row) string {
	old := "It grew older than OUTBOX_MAX_AGE_MIN allows."
	switch object(r) {
	case reply:
		return old + perhaps(r, "the text may have arrived: look at the contact's chat in ManyChat first") + " If the contact still waits: outbox retry " + r.ID
	case token:
		return old + " Nothing needs to be done: " + nextToken + ". To write one sooner: outbox retry " + r.ID
	}
	return old + perhaps(r, "the flow may have been started: look whether it did its work first") +
		" If nobody has taken care of the contact yet: outbox retry " + r.ID
}

// perhaps is what may have happened where the answer to one request was lost.
func perhaps(r outbox.Row, what string) string {
	if r.Payload.Unknown == 0 {
		return ""
	}
	return " ManyChat's answer was lost once, so " + what + "."
}

// refused tells by what a row delivers, and by what it was told, what to put right.
func refused(r outbox.Row) string {
	what := object(r)
	retry := ", then: outbox retry " + r.ID
	switch {
	case r.Kind == outbox.HandoffNotice && r.LastError == notConfigured:
		return unconfigured(what) + " If your people are still to be told, configure it again" + retry + ". Else: outbox discard " + r.ID
	case what == hook:
		return unposted(r) + retry
	case strings.Contains(message(r), "subscriber"):
		return stranger(what, r.ID)
	case what == tag:
		return "ManyChat refused to add the tag. Check that the account has a tag of the name that rules.handoff.tag gives in rules.json" + retry
	case what == flow:
		return "ManyChat refused to start the flow. Check that rules.handoff.flowNs in rules.json is the namespace of a published flow" + retry
	case what == token:
		return "ManyChat refused to write the token. Check that MANYCHAT_TOKEN_FIELD is the name of a custom field of type text" + retry
	case strings.HasPrefix(said(r), "manychat: setcustomfield"):
		return "ManyChat refused to write the reply field. Check that MANYCHAT_REPLY_FIELD is the name of a custom field of type text" + retry
	case strings.HasPrefix(said(r), "manychat: sendflow"):
		return "ManyChat refused to start the reply flow. Check that MANYCHAT_REPLY_FLOW_NS is the namespace of a published flow" + retry
	}
	return "ManyChat refused it. Put right what its message says" + retry
}

// stranger is of a contact whom ManyChat does not know: it says so at times of one who then
// gets the text.
func stranger(what deliverable, id string) string {
	undone := map[deliverable]string{
		reply: "the text is not in the chat", token: "the contact is there", tag: "the contact is there without the tag",
		flow: "the contact is there, and nobody was told",
	}
	return "ManyChat says that it does not know the contact, which is at times a mistake. Look for the subscriber in ManyChat. " +
		"If " + undone[what] + ": outbox retry " + id + ". If there is no such contact: outbox discard " + id
}

// unconfigured is of a part that the files of the business held when the row was queued.
func unconfigured(what deliverable) string {
	switch what {
	case tag:
		return "There is no rules.handoff.tag in rules.json any more."
	case flow:
		return "There is no rules.handoff.flowNs in rules.json any more."
	case hook:
		return "There is no rules.handoff.webhook in rules.json any more, or no HANDOFF_WEBHOOK_SECRET in the environment."
	}
	return "The notice is not in rules.handoff of rules.json any more."
}

// receiver finds the status that a webhook's receiver answered.
var receiver = regexp.MustCompile(`^webhook: .* answered ([0-9]{3})$`)

// unposted tells by the receiver's answer what to look at.
func unposted(r outbox.Row) string {
	answered := receiver.FindStringSubmatch(said(r))
	if answered == nil {
		return "Nothing was posted. Put right what is said of the address, which is rules.handoff.webhook in rules.json"
	}
	status := answered[1]
	switch {
	case status[0] == '3':
		return "The receiver answered " + status + ", and redirects are not followed. Write the address that it leads to into rules.handoff.webhook in rules.json"
	case status == "401", status == "403":
		return "The receiver answered " + status + ": it refuses the signature, or wants a login. Check that it has the same HANDOFF_WEBHOOK_SECRET and the right time, " +
			"and that rules.handoff.webhook in rules.json is its address"
	case status == "404", status == "405", status == "410":
		return "The receiver answered " + status + ": there is nothing that takes notices. Check the address, which is rules.handoff.webhook in rules.json"
	}
	return "The receiver answered " + status + ". Its log says why; that it checks the signature with another HANDOFF_WEBHOOK_SECRET may be a reason. " +
		"Put it right, or the address, which is rules.handoff.webhook in rules.json"
}

// said is what ended the row's last try, in small letters.
func said(r outbox.Row) string { return strings.ToLower(r.LastError) }

// message is ManyChat's own part of it, without the name of what was called.
func message(r outbox.Row) string {
	_, after, _ := strings.Cut(said(r), ": rejected")
	return after
}

// deliverable is what a row delivers.
type deliverable string

const (
	reply   deliverable = "reply"
	token   deliverable = "token"
	tag     deliverable = action.NoticeTag
	flow    deliverable = action.NoticeFlow
	hook    deliverable = action.NoticeWebhook
	unnamed deliverable = ""
)

// object is what a row delivers; a notice that names no part is unnamed.
func object(r outbox.Row) deliverable {
	switch r.Kind {
	case outbox.HandoffNotice:
		return deliverable(Part(r))
	case outbox.ContactToken:
		return token
	case outbox.Reply:
		return reply
	}
	return unnamed
}

// Part is which part of a handoff notice a row is: tag, flow or webhook. It is empty of
// every other row.
func Part(r outbox.Row) string {
	if r.Kind != outbox.HandoffNotice || len(r.Payload.Actions) == 0 {
		return ""
	}
	return r.Payload.Actions[0].ID
}

// Name is what a row is, in words.
func Name(r outbox.Row) string {
	name := strings.ReplaceAll(string(r.Kind), "_", " ")
	if part := Part(r); part != "" {
		name += " (" + part + ")"
	}
	return name
}
