package simtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The names of what contacts write and models answer. A message is named c1n03, the fourth
// of the second contact, and one that somebody else sent in their name c1f03. Every sentence
// of an answer has a mark such as c1n03-t2-s07: the message, the try, the sentence.
var (
	messageName = regexp.MustCompile(`\bc(\d)([nf])(\d\d)\b`)
	markName    = regexp.MustCompile(`\b(c\d[nf]\d\d)-t(\d+)-s(\d+)\b`)
)

// What a play holds at most.
const (
	contacts    = 3
	perContact  = 6 // messages of each
	firstNumber = 900000101
)

// subscriber is the id of a contact at ManyChat.
func subscriber(contact int) string { return strconv.Itoa(firstNumber + contact) }

// numberOf is the contact with an id; -1: there is none.
func numberOf(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n < firstNumber || n >= firstNumber+contacts {
		return -1
	}
	return n - firstNumber
}

// nameOf is the name of a message.
func nameOf(contact, n int, forged bool) string {
	kind := "n"
	if forged {
		kind = "f"
	}
	return fmt.Sprintf("c%d%s%02d", contact, kind, n)
}

// contactOf is who a message, or a mark, is of.
func contactOf(name string) int { return int(name[1] - '0') }

// placeOf is the number of a message among all of the play. What a model does for it at
// ManyChat bears the number, so that each request tells which message it is for.
func placeOf(name string) int {
	n, _ := strconv.Atoi(name[3:5]) // the pattern holds digits only
	place := contactOf(name)*2*perContact + n
	if name[2] == 'f' {
		place += perContact
	}
	return place
}

const places = contacts * 2 * perContact

// messagesIn are the names of messages in a text, in its order, marks aside.
func messagesIn(text string) (names []string) {
	for _, name := range messageName.FindAllString(markName.ReplaceAllString(text, ""), -1) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// marksIn are the marks in a text, in its order.
func marksIn(text string) []string { return markName.FindAllString(text, -1) }

// sentences is an answer to messages: so many sentences, each with its mark.
func sentences(names []string, try, n int) string {
	own := names[len(names)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "Here is what we can say about it, in answer to %s:", strings.Join(names, " and "))
	for i := range n {
		fmt.Fprintf(&b, " the studio keeps a wheel for you as in %s-t%d-s%02d.", own, try, i)
	}
	return b.String()
}
