package anthropic

import (
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// minBudget is the smallest thinking.budget_tokens that the API takes.
const minBudget = 1024

// reason asks for the effort of the request, and makes room for it in max_tokens, which
// counts reasoning too.
//
// Claude 4.6 and later decide themselves how much to think, by effort; those before take
// a number of tokens instead, and demand that an answer that called tools comes back with
// the thinking before it. When that was another model's, they are not asked to reason.
// (https://platform.claude.com/docs/en/build-with-claude/thinking)
func reason(body *request, req llm.Request, signed bool) {
	tokens := max(req.ReasoningTokens, 0)
	switch {
	case req.Effort == "":
	case adaptive(body.Model):
		body.Thinking = &thinking{Type: "adaptive"}
		if body.OutputConfig == nil {
			body.OutputConfig = &outputConfig{}
		}
		body.OutputConfig.Effort = effort(req.Effort)
	case signed:
		tokens = max(tokens, minBudget)
		body.Thinking = &thinking{Type: "enabled", BudgetTokens: tokens}
	}
	body.MaxTokens += tokens
}

// effort is the API's word for an effort; it has none below low.
func effort(e llm.Effort) string {
	if e == llm.EffortMinimal {
		return string(llm.EffortLow)
	}
	return string(e)
}

// adaptive reports whether a model thinks by effort rather than by a number of tokens:
// from version 4.6 on, and where a name tells no version, which is a new model's.
func adaptive(model string) bool {
	major, minor, found := version(model)
	return !found || major > 4 || major == 4 && minor >= 6
}

// version is the first number of a model's name and the one right after it, as in
// claude-opus-4-1-20250805 and claude-3-7-sonnet-latest. A number above 99 is a date.
func version(model string) (major, minor int, found bool) {
	words := strings.FieldsFunc(model, func(r rune) bool { return strings.ContainsRune("-.@:/", r) })
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			continue
		}
		if i+1 < len(words) {
			if next, err := strconv.Atoi(words[i+1]); err == nil && next <= 99 {
				return n, next, true
			}
		}
		return n, 0, true
	}
	return 0, 0, false
}
