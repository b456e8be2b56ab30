package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
)

// The desk's sentences: catalog text with nothing but punctuation between.

func (o *offering) priceLine() string { return o.name + ": " + o.price }

// scheduleLine is empty when the catalog does not say when the offering takes place.
func (o *offering) scheduleLine() string {
	if o.schedule == "" {
		return ""
	}
	return o.name + ": " + o.schedule
}

// durationLine tells how long the offering takes and when; empty when the catalog
// says neither.
func (o *offering) durationLine() string {
	when := strings.Trim(o.duration+", "+o.schedule, ", ")
	if when == "" {
		return ""
	}
	return o.name + ": " + when
}

// linkLine is empty when the offering has no page.
func (o *offering) linkLine() string {
	if o.link == "" {
		return ""
	}
	return o.name + ": " + o.link
}

// describe tells everything about one offering in up to three messages.
func (o *offering) describe() []string {
	facts := []string{o.price}
	for _, fact := range []string{o.duration, o.schedule} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	messages := []string{o.name + ": " + o.description, strings.Join(facts, ", ")}
	if o.link != "" {
		messages = append(messages, o.link)
	}
	return messages
}

func (d *desk) all() []*offering {
	out := make([]*offering, len(d.offerings))
	for i := range d.offerings {
		out[i] = &d.offerings[i]
	}
	return out
}

func (d *desk) list(offerings []*offering) string {
	return d.lines(offerings, (*offering).priceLine)
}

// lines says one fact of each offering that has it.
func (d *desk) lines(offerings []*offering, fact func(*offering) string) string {
	var out []string
	for _, o := range offerings {
		if line := fact(o); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// sentences are those of the description that have a word of some, which it must all
// have; empty: it has not.
func (o *offering) sentences(some []string) string {
	var out []string
	missing := slices.Clone(some)
	for sentence := range strings.SplitAfterSeq(o.description, ". ") {
		list := fold.Words(sentence)
		if slices.ContainsFunc(some, func(w string) bool { return fold.Holds(list, w) }) {
			out = append(out, strings.TrimSpace(sentence))
		}
		missing = slices.DeleteFunc(missing, func(w string) bool { return fold.Holds(list, w) })
	}
	if len(missing) > 0 || len(out) == 0 {
		return ""
	}
	return o.name + ": " + strings.Join(out, " ")
}

// ways tells the payment options for the asked ways to pay, or else those that share a
// telling word with the message, or else all.
func (m *Model) ways(d *desk, message []string, asked [][]string) []string {
	telling := m.telling(message)
	var named, matching, all []string
	for _, p := range d.payments {
		all = append(all, p.description)
		if slices.ContainsFunc(asked, func(way []string) bool { return cue.Has(fold.Pad(p.words), way) }) {
			named = append(named, p.description)
		}
		if _, matched := fold.Cover(telling, p.words); matched > 0 {
			matching = append(matching, p.description)
		}
	}
	switch {
	case len(asked) > 0:
		return named
	case len(matching) > 0:
		return matching
	}
	return all
}

// inventedPrice quotes an amount that no catalog is likely to hold.
func (d *desk) inventedPrice() string {
	if len(d.offerings) == 0 {
		return "98765.43 " + d.currency
	}
	return d.offerings[0].name + ": 98765.43 " + d.currency
}

// inventedLink is on a domain that RFC 2606 reserves.
const inventedLink = "https://invented.example/offer"

// atLength tells everything about every offering, again and again: five messages, each
// longer than a message may be (docs/spec/04-agent.md, "Reply contract").
func (d *desk) atLength() []string {
	var all []string
	for i := range d.offerings {
		all = append(all, d.offerings[i].describe()...)
	}
	once := strings.Join(append(all, d.business), "\n") + "\n"
	long := strings.TrimSpace(strings.Repeat(once, 1+1000/len(once)))
	return slices.Repeat([]string{long}, 5)
}
