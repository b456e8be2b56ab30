package read

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// The marks round what a contact wrote, and the notices that are read.
const (
	fenceOpen      = "<<<CONTACT_MESSAGE>>>"
	fenceClose     = "<<<END_CONTACT_MESSAGE>>>"
	offeringNotice = "OFFERING: "
	nameNotice     = "FIRST NAME"
	followUpNotice = "FOLLOW-UP: "
)

// Conversation is what the messages of a request tell.
type Conversation struct {
	Message  string      // the last fenced text
	FollowUp bool        // there is no message to answer: the contact went quiet
	Earlier  []Utterance // what was said before it, newest first
	Offering string      // id in the server's notice; empty: none
	Done     []string    // what the history says was done: tool, id and value
	Sale     Standing    // in the server's notice
	Used     Used        // the tools of this turn
}

// Utterance is a text of the history.
type Utterance struct {
	Text    string
	ByAgent bool
}

// LastAnswer is what the agent said last; empty: nothing.
func (c Conversation) LastAnswer() string {
	for _, u := range c.Earlier {
		if u.ByAgent {
			return u.Text
		}
	}
	return ""
}

func OfConversation(messages []llm.Message) Conversation {
	last := len(messages) - 1
	for last > 0 && !(messages[last].Role == llm.User && strings.Contains(messages[last].Text, fenceOpen)) {
		last-- // what follows the message to answer is the loop's
	}
	if last < 0 {
		return Conversation{}
	}
	if at := followUp(messages); at >= 0 {
		c := OfConversation(append(slices.Clone(messages[:at]), llm.Message{Role: llm.User, Text: fenceOpen + fenceClose}))
		c.FollowUp, c.Offering, c.Used = true, notice(messages[at].Text, offeringNotice), ofTools(messages[at:])
		return c
	}
	if !strings.Contains(messages[last].Text, fenceOpen) {
		last = len(messages) - 1
	}
	before, message := lastFenced(messages[last].Text)
	contacts, notices := earlierFenced(before)
	c := Conversation{Message: message, Earlier: contacts, Offering: notice(notices, offeringNotice), Sale: standing(notices), Used: ofTools(messages[last:])}
	for _, msg := range slices.Backward(messages[:last]) {
		switch msg.Role {
		case llm.User:
			fenced, _ := earlierFenced(msg.Text)
			c.Earlier = append(c.Earlier, fenced...)
		case llm.Assistant:
			text, done := actionNote(msg.Text)
			c.Earlier = append(c.Earlier, Utterance{text, true})
			c.Done = append(c.Done, done...)
		}
	}
	return c
}

// followUp is where the server's note stands in place of a message to answer; -1: there is one.
func followUp(messages []llm.Message) int {
	for i, msg := range slices.Backward(messages) {
		if msg.Role == llm.User && strings.Contains("\n"+lastLine(msg.Text), "\n"+followUpNotice) {
			return i
		}
		if msg.Role == llm.User && strings.Contains(msg.Text, fenceOpen) {
			break
		}
	}
	return -1
}

// lastLine is the last line of a text, which no contact writes: their words stand in a fence.
func lastLine(text string) string { return text[strings.LastIndex(text, "\n")+1:] }

// The server's note of what was done beside an answer, a line of its own.
var noteForm = regexp.MustCompile(`(?m)\n?^\[actions performed: (.*)\]$`)

// actionNote takes the notes off an answer.
func actionNote(answer string) (text string, done []string) {
	for _, m := range noteForm.FindAllStringSubmatch(answer, -1) {
		done = append(done, strings.Split(m[1], ", ")...)
	}
	return strings.TrimSpace(noteForm.ReplaceAllString(answer, "")), done
}

// lastFenced is the text of the last fence, and what stands before it.
func lastFenced(text string) (before, inside string) {
	i := strings.LastIndex(text, fenceOpen)
	if i < 0 {
		return "", text
	}
	inside, _, _ = strings.Cut(text[i+len(fenceOpen):], fenceClose)
	return text[:i], strings.TrimSpace(inside)
}

// notice is the rest of the last line that begins with name.
func notice(text, name string) string {
	i := strings.LastIndex("\n"+text, "\n"+name)
	if i < 0 {
		return ""
	}
	line, _, _ := strings.Cut(text[i+len(name):], "\n")
	return strings.TrimSpace(line)
}

// earlierFenced are the fenced texts of a message, newest first, and what the server
// wrote outside of them. A fence behind the notice of a name holds no text.
func earlierFenced(text string) (fenced []Utterance, rest string) {
	parts := strings.Split(text, fenceOpen)
	outside := []string{parts[0]}
	for _, part := range parts[1:] {
		before := strings.TrimSpace(outside[len(outside)-1])
		inside, after, _ := strings.Cut(part, fenceClose)
		if !strings.HasPrefix(before[strings.LastIndex(before, "\n")+1:], nameNotice) {
			fenced = append(fenced, Utterance{Text: strings.TrimSpace(inside)})
		}
		outside = append(outside, after)
	}
	slices.Reverse(fenced)
	return fenced, strings.Join(outside, "\n")
}

// Used is what the steps before this one of the same turn came to.
type Used struct {
	Stepped bool // tools were called
	Sent    bool // a flow went out, or will behind the reply

	Flows []string // that were called
}

func ofTools(messages []llm.Message) (u Used) {
	u.Flows = called(messages)
	for _, msg := range messages {
		for _, r := range msg.Results {
			u.Stepped = true
			var told struct{ Sent, Staged bool }
			if err := json.Unmarshal(r.Content, &told); err == nil && r.Name == "send_flow" {
				u.Sent = u.Sent || told.Sent || told.Staged
			}
		}
	}
	return u
}
