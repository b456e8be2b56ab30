package openapi

import (
	"fmt"
	"net/http"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// What the operations and their answers are about.
const (
	aboutAPI = "Answers people who write to a business on WhatsApp, Instagram, Messenger or Telegram through ManyChat. " +
		"Every answer is sent with Cache-Control: no-store."
	aboutMessage = "Called by a ManyChat Dynamic Block and by the callback that every answer registers. " +
		"Not by an External Request: it would show the previous reply again where this answer is silent."
	aboutContact = "The same, for ManyChat's own object of a contact: the safest way to call, because ManyChat builds the body itself."
	aboutPause   = "Called by a flow of the business, in an External Request, when a person takes a contact over or is done. " +
		"While a contact is paused their messages are recorded and answered silently, and late replies are withheld."
	aboutPaused = "Done."
	aboutReply  = "A Dynamic Block, also for a failure of the service: the contact is then told that a person takes over. " +
		"A reply that takes longer than ManyChat waits is sent later, and this one says so or nothing."
	aboutRetryAfter   = "In how many seconds the address may ask again."
	aboutReady        = "It should."
	aboutNotReady     = "It should not: the database does not answer, or the service is stopping."
	aboutSubscriber   = "ManyChat's id of the contact."
	aboutTurns        = "The turns; none for a contact who never wrote."
	aboutSharedSecret = "A secret of MANYCHAT_SHARED_SECRET. It is compared before any of the body is read."
	aboutConsoleKey   = "CONSOLE_API_KEY."
)

// The largest body, as it is told.
const kibibytes = inbound.MaxBody >> 10

func aboutMessageBody() string {
	return fmt.Sprintf("JSON in UTF-8, at most %d KiB. A body that is not JSON, because ManyChat pasted a contact's words into it "+
		"as they are, is repaired where it can be read in one way only.", kibibytes)
}

func aboutContactBody() string {
	return fmt.Sprintf("ManyChat's Full Contact Data, at most %d KiB.", kibibytes)
}

func aboutPauseBody() string { return fmt.Sprintf("JSON in UTF-8, at most %d KiB.", kibibytes) }

// aboutRefusal says when a status is answered instead of a reply.
func aboutRefusal(code int) string {
	switch code {
	case http.StatusBadRequest:
		return "The body breaks a rule; the key is named if it is one. Only a caller with the secret is told."
	case http.StatusUnauthorized:
		return "The request does not carry one valid secret in one Authorization header."
	case http.StatusRequestTimeout:
		return fmt.Sprintf("The body did not arrive within %d seconds.", int(inbound.ReadWithin.Seconds()))
	case http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("The body is longer than %d KiB.", kibibytes)
	case http.StatusUnsupportedMediaType:
		return "The Content-Type is neither absent nor JSON's, or the body is compressed."
	case http.StatusTooManyRequests:
		return "Too many requests without a valid secret came from the address. Requests with one are not limited."
	}
	return http.StatusText(code)
}

// words describe schemas and their properties, by their names.
type words struct {
	schemas    map[string]string
	properties map[string]map[string]string
}

func allWords() words { return words{aboutSchemas(), aboutProperties()} }

func aboutSchemas() map[string]string {
	return map[string]string{
		messageRequest: "A contact's message. Any other key is refused, and so is a key that is given twice.",
		contactRequest: "ManyChat's Full Contact Data. Its other keys are passed over and not kept.",
		pauseRequest:   "Whom to pause, and for how long. Any other key is refused, and so is a key that is given twice.",
		pausedAnswer:   "How the contact's conversations are now.",
		dynamicBlock:   "ManyChat's Dynamic Block, version 2.",
		blockContent:   "What ManyChat does with the answer.",
		textMessage:    "One text.",
		callback:       "Makes ManyChat call the message endpoint with the contact's next message. One-shot: every answer registers it again, unless CALLBACK is off.",
		refusal:        "Why a request was not answered.",
		statusAnswer:   "How the process is.",
		turnList:       "Recorded turns of a contact.",
		recordedTurn:   "A message of a contact and what became of it. It holds the contact's words and not their id.",
		consoleFailure: "Why a request was not answered.",
		"Spend":        "What the turn's calls of the model used.",
		"Timings":      "Parts of the turn's time, in microseconds.",
		"Action":       "Something that the agent did besides replying.",
		"Call":         "A call that the model made of a tool, and what it was told.",
	}
}

func aboutProperties() map[string]map[string]string {
	return map[string]map[string]string{
		messageRequest: {
			"subscriber_id": "ManyChat's id of the contact, 1 to 32 digits without a sign, a fraction or an exponent. A string keeps every digit in every client: ids exceed 2^53.",
			"text":          fmt.Sprintf("What the contact wrote. Longer than %d characters is cut. Empty or an unrendered variable counts as media.", body.MaxText),
			"ai_token":      "The contact's token: it proves whom the request speaks for.",
			"course":        "The same as offering, which wins when both are given.",
			"offering":      "What the contact is interested in. Unknown, empty or an unrendered variable counts as nothing.",
			"channel":       "A known channel wins over the service's own; anything else is ignored.",
			"first_name":    "Used only where the tenant's rules say so; never kept.",
			"last_name":     "Accepted and not used.",
			"locale":        "Accepted and not used.",
		},
		contactRequest: {
			"id":              "ManyChat's id of the contact, 1 to 32 digits.",
			"last_input_text": fmt.Sprintf("What the contact wrote, a string. Longer than %d characters is cut. Anything but a text counts as media.", body.MaxText),
			"first_name":      "A string; used only where the tenant's rules say so, never kept.",
			"custom_fields":   "An object of values by the names of fields. The fields of the token and of the offering are read.",
		},
		pauseRequest: {
			"subscriber_id": "ManyChat's id of the contact, 1 to 32 digits. A contact who never wrote may be paused too.",
			"hours":         "For how long, from now on. 0 lets the agent go on.",
		},
		pausedAnswer: {
			"subscriber_id": "The contact.", "paused": "Whether a person has the contact now.",
			"until": "When the agent goes on by itself, in UTC; null: it answers.", "withheld": "Replies that were on their way and are kept back now.",
		},
		dynamicBlock: {"version": "Always the same.", "content": "What the contact is shown."},
		blockContent: {
			"type":                      "The channel; left out for Messenger.",
			"messages":                  "Texts in order; none: the contact is shown nothing, on purpose.",
			"external_message_callback": "What ManyChat is asked to do with the contact's next message.",
		},
		textMessage: {"type": "The only type that is sent.", "text": "At most as long as the channel takes."},
		callback: {
			"url": "The message endpoint.", "method": "How it is called.", "timeout": "For how many seconds it stays registered.",
			"headers": "Carries the secret that the caller presented, for the next call.",
			"payload": "The next body: keys of a message request, with ManyChat's variables as values.",
		},
		refusal: {
			"error": "What is wrong, in one word.", "key": "The key of the body that is wrong.",
			"message": "What to do about it, for the person who sets ManyChat up.",
		},
		statusAnswer:   {"status": "ok, ready or unavailable.", "detail": "What is not ready, or not as it should be."},
		turnList:       {"turns": "Newest first."},
		consoleFailure: {"error": "What is wrong."},
		recordedTurn:   aboutTurn(),
		"Spend": {
			"tokensIn": "Tokens that the model read, cached ones included.", "tokensCached": "Those of them that were cached.",
			"tokensOut": "Tokens that it wrote.", "costMicros": "What they cost, in millionths of a dollar.",
		},
		"Timings": {
			"record": "From the arrival of the request to the recorded message.", "wait": "Waiting for the contact's earlier turn.", "steps": "Each step of the model.",
			"hold": "Waiting for the gap behind an earlier text.", "total": "From the arrival of the request to the settled reply.",
		},
		"Action": {
			"tool": "What it was.", "id": "Which of the configured ones.", "value": "The id of the configured value.", "length": "Characters of a note.",
			"status": "What became of it.", "error": "Why it failed.", "origin": "The rule that sent it, where the model did not ask for it.",
			"mark": "The part of the field in the sale.", "contactAsked": "The contact asked for it.", "at": "When ManyChat answered.",
		},
		"Call": {
			"step": "The step of the model that made it, from 1.", "tool": "What it called; empty: there is no such tool.", "id": "Which of the configured ones.",
			"value": "The id of the configured value.", "length": "Characters of a note.", "contactAsked": "The contact asked for it.",
			"answer": "What the model was told.", "reason": "Why it was not done.",
		},
	}
}

func aboutTurn() map[string]string {
	return map[string]string{
		"id": "The turn's id.", "state": "Where it stands (docs/states.md).", "attempt": "How often it was started.",
		"text": "What the contact wrote.", "mergedInto": "The later turn that answers the message together with its own.", "replies": "What they were answered.", "outcome": "How it ended.", "path": "How the reply left.",
		"escalationReason": "Why it went to a person.", "model": "The model that answered.", "promptVersion": "A hash of the prompt's fixed part.",
		"confidence": "How sure the model was; null: no model answered.", "spend": "What the model used.", "micros": "Where the time went.",
		"interventions": "What was changed or stopped on the way.", "actions": "What the agent did besides replying; null: no tool was offered.",
		"calls": "The model's calls of tools, in their order.", "receivedAt": "When the request arrived.", "settledAt": "When the reply was decided; null: it is not yet.",
		"respondedAt": "When the response was written; null: it was not.", "deliveries": "Where each text stands that is sent later.",
	}
}
