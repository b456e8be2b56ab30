// Package read takes apart the text of a request: the static part of its prompt, and the
// conversation in its messages. The tests hold it equal to what is written there.
package read

import (
	"regexp"
	"strings"
)

// The parts of a prompt that are looked for.
const (
	personaHeading = "## PERSONA"
	catalogHeading = "## CATALOG"
)

// Sections cuts out the persona and the catalog. The last catalog heading counts:
// what a tenant wrote above it cannot stand in for it.
func Sections(system string) (persona, catalog string) {
	above := system
	if i := strings.LastIndex(system, "\n"+catalogHeading+"\n"); i >= 0 {
		above = system[:i]
		catalog, _, _ = strings.Cut(system[i+len(catalogHeading)+2:], "\n## ")
	}
	_, persona, _ = strings.Cut(above, "\n"+personaHeading+"\n")
	return persona, catalog
}

// Fields reads "Key: value" lines; an indented line goes on the value above it.
func Fields(block string) map[string]string {
	out := map[string]string{}
	var last string
	for line := range strings.SplitSeq(block, "\n") {
		if more, indented := strings.CutPrefix(line, "  "); indented && last != "" {
			out[last] += "\n" + more
			continue
		}
		key, value, found := strings.Cut(line, ": ")
		if last = key; found {
			out[key] = value
		} else {
			last = ""
		}
	}
	return out
}

// A persona gives a closing question in quotation marks or after a colon, at the end
// of a line. Greek asks with a semicolon.
var closingForm = regexp.MustCompile(`(?:["“«„]|: *)([^"“”«»„:]*(?:[?؟？]|\p{Greek};))["”»“]?$`)

// ClosingQuestion is what a persona asks at the end; empty: nothing.
func ClosingQuestion(persona string) string {
	for line := range strings.SplitSeq(persona, "\n") {
		if occasionForm.MatchString(strings.TrimSpace(line)) {
			continue // it is for that occasion
		}
		if m := closingForm.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	return ""
}
