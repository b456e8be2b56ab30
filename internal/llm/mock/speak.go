package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
)

func (d *desk) all() []*catalog.Offering {
	out := make([]*catalog.Offering, len(d.offerings))
	for i := range d.offerings {
		out[i] = &d.offerings[i]
	}
	return out
}

func (d *desk) list(offerings []*catalog.Offering) string {
	return d.lines(offerings, (*catalog.Offering).PriceLine)
}

// lines says one fact of each offering that has it.
func (d *desk) lines(offerings []*catalog.Offering, fact func(*catalog.Offering) string) string {
	var out []string
	for _, o := range offerings {
		if line := fact(o); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// ways tells the payment options for the asked ways to pay, or else those that share a
// telling word with the message, or else all.
func (m *Model) ways(d *desk, message []string, asked [][]string) []string {
	telling := m.telling(message)
	var named, matching, all []string
	for _, p := range d.payments {
		all = append(all, p.Description)
		if slices.ContainsFunc(asked, func(way []string) bool { return cue.Has(fold.Pad(p.Words), way) }) {
			named = append(named, p.Description)
		}
		if _, matched := fold.Cover(telling, p.Words); matched > 0 {
			matching = append(matching, p.Description)
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
	return d.offerings[0].Name + ": 98765.43 " + d.currency
}

// inventedLink is on a domain that RFC 2606 reserves.
const inventedLink = "https://invented.example/offer"

// atLength tells everything about every offering, again and again: five messages, each
// longer than a message may be (docs/spec/04-agent.md, "Reply contract").
func (d *desk) atLength() []string {
	var all []string
	for i := range d.offerings {
		all = append(all, d.offerings[i].Describe()...)
	}
	once := strings.Join(append(all, d.business), "\n") + "\n"
	long := strings.TrimSpace(strings.Repeat(once, 1+1000/len(once)))
	return slices.Repeat([]string{long}, 5)
}
