package mock

import (
	"slices"
	"strings"
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

// pay tells the payment options that share a telling word with the message, else all.
// A word is telling when it names a way to pay, or is long enough and no general word
// for paying.
func (m *Model) pay(d *desk, message []string) string {
	telling := slices.DeleteFunc(slices.Clone(message), func(w string) bool {
		padded := pad([]string{w})
		return !has(padded, m.cues.method) && (weight(w) < 0.6 || m.isCue(w))
	})
	var matching, all []string
	for _, p := range d.payments {
		all = append(all, p.description)
		if _, matched := cover(telling, p.words); matched > 0 {
			matching = append(matching, p.description)
		}
	}
	if len(matching) > 0 {
		return strings.Join(matching, "\n")
	}
	return strings.Join(all, "\n")
}

// inventedPrice quotes an amount that no catalog is likely to hold.
func (d *desk) inventedPrice() string {
	if len(d.offerings) == 0 {
		return "98765.43 " + d.currency
	}
	return d.offerings[0].name + ": 98765.43 " + d.currency
}
