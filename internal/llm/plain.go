package llm

import "strings"

// WithoutTools writes earlier tool calls and their results as text, for a request that
// offers no tools: providers refuse calls of tools that they were not told of. Messages
// still alternate.
func WithoutTools(messages []Message) []Message {
	var out []Message
	for _, m := range messages {
		plain := Message{Role: m.Role, Text: m.Text, Images: m.Images}
		switch {
		case m.Role == ToolResult:
			plain.Role, plain.Text = User, resultsAsText(m.Results)
		case len(m.Calls) > 0:
			plain.Text = strings.TrimSpace(m.Text + "\n" + callsAsText(m.Calls))
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == plain.Role {
			out[last].Text += "\n\n" + plain.Text
			out[last].Images = append(out[last].Images[:len(out[last].Images):len(out[last].Images)], plain.Images...)
			continue
		}
		out = append(out, plain)
	}
	return out
}

func callsAsText(calls []ToolCall) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString("[called " + oneLine([]byte(c.Name)) + " " + oneLine(c.Arguments) + "]\n")
	}
	return b.String()
}

func resultsAsText(results []Result) string {
	var b strings.Builder
	b.WriteString("[what the tools answered]\n")
	for _, r := range results {
		b.WriteString(oneLine([]byte(r.Name)) + ": " + string(r.Content) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// oneLine is what a model wrote of a call, as one line that can end no fence and begin no
// notice: it made the words up, or took them from a contact.
func oneLine(wrote []byte) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '<', r == '>', r == '[', r == ']', r == '\u2028', r == '\u2029', r < ' ':
			return ' '
		}
		return r
	}, string(wrote))
}
