package prompt

import (
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Turn is what varies between the turns of a tenant.
type Turn struct {
	History   []conversation.Entry // oldest first, without the message to answer
	Text      string               // the message to answer
	FirstName string               // the contact's; empty: not told
	Offering  string               // id of the contact's offering; empty: none
	Sale      contact.Sale         // what is known of the contact as a buyer
	Earlier   []action.Record      // what an earlier try of this turn sent
	Quiet     time.Duration        // how long the contact has not written, of a turn that follows up on that; zero: it answers Text
	Now       time.Time
}

// opening stands where a conversation begins with the business: providers want the
// contact's side first.
const opening = "[the conversation begins with a message of the business]"

// Messages writes the messages of a turn: the history, the server's notices, and last
// the fenced message. They alternate and begin with the contact's side.
func (p *Prompt) Messages(turn Turn) []llm.Message {
	return add(history(turn.History), llm.User, p.notices(turn)+"\n"+message(turn))
}

// message is what the contact wrote, and who they say they are, fenced; or that they wrote nothing.
func message(turn Turn) string {
	if turn.Quiet > 0 {
		return firstName(turn.FirstName) + followUp(turn.Quiet)
	}
	return firstName(turn.FirstName) + Fence(turn.Text)
}

func history(entries []conversation.Entry) []llm.Message {
	var messages []llm.Message
	for _, e := range entries {
		switch {
		case e.Role == conversation.ByContact:
			messages = add(messages, llm.User, Fence(e.Text))
		default:
			if len(messages) == 0 {
				messages = add(messages, llm.User, opening)
			}
			messages = add(messages, llm.Assistant, agentEntry(e))
		}
	}
	for i, m := range messages {
		if m.Role == llm.Assistant {
			messages[i].Text = unfence(m.Text) // two replies may make a marker together
		}
	}
	return messages
}

// add appends a text, to the last message when it is of the same side.
func add(messages []llm.Message, role llm.Role, text string) []llm.Message {
	if text == "" {
		return messages
	}
	if last := len(messages) - 1; last >= 0 && messages[last].Role == role {
		messages[last].Text += "\n\n" + text
		return messages
	}
	return append(messages, llm.Message{Role: role, Text: text})
}

// agentEntry is what the agent said, with the server's note of what was done along with it.
func agentEntry(e conversation.Entry) string {
	if note := performed(e.Actions); note != "" {
		return strings.TrimSpace(e.Text + "\n" + note)
	}
	return e.Text
}

// notices are the server's words about this turn, one a line.
func (p *Prompt) notices(turn Turn) string {
	lines := []string{"DATE: " + date(turn.Now.In(p.zone))}
	if h := p.tenant.Rules.BusinessHours; h != nil {
		lines = append(lines, "HOURS: "+hours(h, turn.Now))
	}
	if o, found := p.tenant.Catalog.Offering(turn.Offering); found {
		lines = append(lines, "OFFERING: "+o.ID)
	}
	if said := p.standing(turn.Sale); said != "" {
		lines = append(lines, said)
	}
	if conversation.Repeats(turn.History, turn.Text) {
		lines = append(lines, "REPEAT: the message equals the one before it; a sticker or a reaction also looks like this.")
	}
	if done := earlier(turn.Earlier); done != "" {
		lines = append(lines, done)
	}
	return strings.Join(lines, "\n")
}

// date is an instant to the minute, with its day of the week and its zone.
func date(at time.Time) string { return at.Format("Monday 2006-01-02 15:04 ") + at.Location().String() }

// hours says whether people answer, and until when or from when on.
func hours(h *tenant.BusinessHours, now time.Time) string {
	state, changes := "closed now", ", opens "
	if h.Open(now) {
		state, changes = "open now", ", closes "
	}
	if next, found := h.Change(now); found {
		state += changes + date(next)
	}
	return state
}
