package guardrail

import (
	"regexp"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// readToolNames are the names of tools, and of what only the record has, unless the model is
// told of none. One that the catalog holds is the catalog's word.
func readToolNames(t *tenant.Tenant) (names accountNames) {
	if t.Tools == nil {
		return names
	}
	own := nameKey(fold(strings.Join(catalogTexts(&t.Catalog), "\n")))
	for _, kind := range []action.Kind{
		action.SendFlow, action.AddTag, action.RemoveTag, action.SetField, action.WriteNote,
		action.ScheduleNudge, action.GetContact, action.SendEvent, action.NotifyHandoff,
	} {
		if name := string(kind); !holdsToken(own, name) {
			names.tokens = append(names.tokens, name)
		}
	}
	return names
}

// A tool's name, in a pattern.
const toolName = `\b(?:send_flow|add_tag|remove_tag|set_field|write_note|schedule_nudge|get_contact|send_event|notify_handoff)\b`

// toldWords are what a call is answered with, or says of itself, as true or false.
const toldWords = `(?:staged|sent|available|contactAsked|openingQueued)`

// flowWords are what a write of the sale says of a stage's flow.
const flowWords = `(?:flowSent|flowStaged|flowDropped|flowRefused|flowReason)`

// callTag is a tag of the markup in which models write calls and their results, such as
// <tool_call>, <invoke name="x">, <function=x> or <|tool_calls_begin|>.
const callTag = `[|\s]*(?:\w+:)?(?:tools?[\s_▁-](?:calls?|code|use|results?|responses?|outputs?|sep)|functions?(?:[\s_▁-](?:calls?|results?)|=)|invoke\s|parameters?[\s=]|python_tag)[^<>]*`

var (
	// callElement is such an element with what it holds, callMark a tag that is left, or
	// brackets used as one.
	callElement = regexp.MustCompile(`(?is)<` + callTag + `>.*?<[|\s]*/[^<>]*>`)
	callMark    = regexp.MustCompile(`(?i)<[|\s]*/?` + callTag + `>|<[|\s]*/\s*(?:\w+:)?(?:invoke|parameters?|functions?)\s*>|\[/?(?:TOOL_CALLS?|TOOL_RESULTS?|AVAILABLE_TOOLS)\]`)

	// callObject is what an object of JSON holds that is a call or a result of one.
	callObject = regexp.MustCompile(`(?i)["'](?:tool(?:_?(?:calls?|name|input|uses?|results?))?|function(?:_?call)?|recipient_name|arguments|parameters|` +
		`flow|tag|field|note|delay|contactAsked|staged|sent|available|openingQueued|` + flowWords + `)["']\s*:|` + toolName +
		`|[{,]\s*(?:` + toldWords + `\s*:\s*(?:true|false)\b|(?:flow|tag|field|note|delay|reason|` + flowWords + `)\s*:\s*[\w-]+\s*[,}])`)
	objectStart = regexp.MustCompile(`^\{\s*["']`)

	// callList is a list of nothing but such objects.
	callList = regexp.MustCompile(`\[\s*(?:` + gone + `[\s,]*)+\]`)

	// calledName is a tool's name as a program calls it: with arguments behind it, in
	// brackets, or alone on its line behind what models write before a call.
	calledName = regexp.MustCompile(`(?i)(?:\bprint\s*\(\s*)?(?:\b(?:functions?|tools?|default_api)\s*[.:]\s*)?` + toolName +
		`(?:\s*\((?:[^()]|\([^()]*\))*\)(?:\s*\))?|[\s:=]*` + gone + `)` +
		`|\[[^\[\]\n]*` + toolName + `[^\[\]\n]*\]|\([^()\n]*` + toolName + `[^()\n]*\)`)
	calledLine = regexp.MustCompile(`(?im)^[\s>#•"'-]*(?:` +
		toldWords + `\s*[:=]\s*(?:true|false)[ \t"'.,;}\]]*$|` + flowWords + `\s*[:=][ \t"']*[\w-]+[ \t"'.,;}\]]*$|action(?:\s+input)?\s*:\s*(?:` + toolName + `|` + gone + `)` +
		`|(?:(?:(?:tool|function)(?:[\s_]call)?|call(?:ing)?|using)\s*:?\s*)?(?:functions?\.)?` + toolName + `)[^\n]*$`)
)

// withoutCalls is a text with [gone] where it writes a tool call or the result of one: as markup, as
// JSON or as a program would. No call of these is made, whatever the model took them for.
func withoutCalls(text string) string {
	text = callElement.ReplaceAllString(text, gone)
	text = callMark.ReplaceAllString(text, gone)
	text = callList.ReplaceAllString(withoutObjects(text), gone)
	text = calledName.ReplaceAllString(text, gone)
	return calledLine.ReplaceAllString(text, gone)
}

// withoutObjects puts [gone] in the place of objects that are calls or results. It takes the
// outermost; one without an end goes up to the text's.
func withoutObjects(text string) string {
	var b strings.Builder
	done := 0
	for _, o := range objects(text) {
		if o.start < done || !callObject.MatchString(text[o.start:o.end]) {
			continue
		}
		b.WriteString(text[done:o.start])
		b.WriteString(gone)
		done = o.end
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// span is a part of a text, by its bytes.
type span struct{ start, end int }

// objects are the outermost braces of a text with what stands between them, in order.
func objects(text string) []span {
	var closed []span // inner ones before the one around them
	var open []int
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"' && len(open) > 0:
			quoted = !quoted
		case quoted:
		case c == '{':
			open = append(open, i)
		case c == '}' && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			for len(closed) > 0 && closed[len(closed)-1].start > start {
				closed = closed[:len(closed)-1]
			}
			closed = append(closed, span{start, i + 1})
		}
	}
	for _, start := range open {
		if objectStart.MatchString(text[start:]) {
			for len(closed) > 0 && closed[len(closed)-1].start > start {
				closed = closed[:len(closed)-1]
			}
			return append(closed, span{start, len(text)})
		}
	}
	return closed
}
