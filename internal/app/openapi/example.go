package openapi

import (
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// replyExamples are answers as they are rendered for WhatsApp. Their values are made up,
// or what the program does without being told otherwise; none is a tenant's.
func replyExamples() (map[string]example, error) {
	shape, err := delivery.ShapeOf(contact.WhatsApp, true)
	if err != nil {
		return nil, err
	}
	next := &delivery.Callback{
		URL:    "https://agent.example.com" + inbound.MessagePath,
		Secret: "the-secret-that-the-caller-presented",
		Payload: map[string]string{
			"subscriber_id": "{{contact.id}}", "text": "{{last_input_text}}", "ai_token": "{{ai_token}}",
		},
	}
	render := func(texts ...string) (r manychat.Response) {
		if err == nil {
			r, err = shape.Render(texts, next)
		}
		return r
	}
	all := map[string]example{
		"reply":    {"A reply", render("We open at nine, and there is a place on Saturday.")},
		"handoff":  {"A handoff to a person, also after a failure of the service", render("A colleague will answer you here.")},
		"silent":   {"Silence on purpose: the contact is shown nothing", render()},
		"internal": {"Not even a handoff could be rendered", inbound.Refusal{Error: inbound.Internal}},
	}
	if err != nil {
		return nil, fmt.Errorf("examples: %w", err)
	}
	return all, nil
}

// messageExamples are bodies as a ManyChat account sends them.
func messageExamples() map[string]example {
	return map[string]example{
		"callback": {"What the registered callback sends", map[string]any{
			"subscriber_id": "1234567890", "text": "Do you have a place on Saturday?", "ai_token": "",
		}},
		"shortest": {"The id as a number, and nothing that is optional", map[string]any{
			"subscriber_id": 1234567890, "text": "Do you have a place on Saturday?",
		}},
	}
}

func contactExamples() map[string]example {
	return map[string]example{
		"whole": {"A few keys of the object; ManyChat sends more", map[string]any{
			"id": "1234567890", "first_name": "Ana", "locale": "en_US",
			"last_input_text": "Do you have a place on Saturday?", "custom_fields": map[string]any{},
		}},
	}
}

func pauseExamples() map[string]example {
	return map[string]example{
		"pause":  {"A person takes the contact over for four hours", map[string]any{"subscriber_id": "1234567890", "hours": 4}},
		"resume": {"The agent goes on", map[string]any{"subscriber_id": "1234567890", "hours": 0}},
	}
}

func pausedExamples() map[string]example {
	until := time.Date(2026, 1, 1, 16, 0, 0, 0, time.UTC)
	return map[string]example{
		"paused":  {"The contact is a person's", inbound.Paused{SubscriberID: "1234567890", Paused: true, Until: &until, Withheld: 1}},
		"resumed": {"The contact is the agent's", inbound.Paused{SubscriberID: "1234567890"}},
	}
}
