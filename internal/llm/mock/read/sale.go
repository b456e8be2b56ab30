package read

import (
	"regexp"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// SaleFields are the ids of the fields by which a tenant's sale is recorded; empty: it has none.
type SaleFields struct{ Intent, Stage, Offering string }

// saleFieldsForm is the last rule of the sale in a prompt.
var saleFieldsForm = regexp.MustCompile(`(?m)^The fields of the sale: intent is "([^"]+)"(?:, stage is "([^"]+)")?(?:, offering is "([^"]+)")?\.$`)

// SaleOf reads which fields a prompt's rules of the sale are about. What a tenant wrote below them
// cannot stand in for them.
func SaleOf(system string) SaleFields {
	rules, _, _ := strings.Cut(system, "\n"+personaHeading+"\n")
	m := saleFieldsForm.FindStringSubmatch(rules)
	if m == nil {
		return SaleFields{}
	}
	return SaleFields{Intent: m[1], Stage: m[2], Offering: m[3]}
}

// occasionForm is a line of a persona that gives its sentence for an occasion: a word or two, a
// colon, and the sentence in quotation marks.
var occasionForm = regexp.MustCompile(`^[-*] ([a-z_-]+): ["“«„]([^"“”«»„]+)["”»“]$`)

// Occasions are the sentences that a persona gives for occasions of a sale.
func Occasions(persona string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(persona, "\n") {
		if m := occasionForm.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			out[m[1]] = m[2]
		}
	}
	return out
}

// Standing is what the server's notice tells of a sale.
type Standing struct {
	Intent, Stage string
	Offering      string // id; empty: none is known
	Advertised    bool   // the request named it, and nobody chose it since
}

func standing(notices string) (s Standing) {
	for part := range strings.SplitSeq(notice(notices, "SALE: "), "; ") {
		what, rest, _ := strings.Cut(part, " ")
		switch what {
		case "intent":
			s.Intent = rest
		case "stage":
			s.Stage = rest
		case "offering":
			s.Offering, rest, _ = strings.Cut(rest, ", ")
			s.Advertised = strings.HasPrefix(rest, "named by the request")
		}
	}
	return s
}

// called are the ids of the flows that the calls of messages name.
func called(messages []llm.Message) (ids []string) {
	for _, msg := range messages {
		for _, c := range msg.Calls {
			if m := flowForm.FindSubmatch(c.Arguments); m != nil && c.Name == "send_flow" {
				ids = append(ids, string(m[1]))
			}
		}
	}
	return ids
}

var flowForm = regexp.MustCompile(`"flow"\s*:\s*"([^"]*)"`)
