package openai

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// traits are what a model takes of this protocol, by its name. A wrong guess costs one
// refused request; see Model.learn.
type traits struct {
	reasons bool // its reasoning can be had encrypted
	marks   bool // caches a prompt's beginning only up to a mark
	bounds  bool // takes bounds in a strict schema
	efforts map[llm.Effort]string
}

var (
	gptName    = regexp.MustCompile(`^gpt-(\d{1,2})(?:\.(\d{1,2}))?(|-.*)$`)
	oName      = regexp.MustCompile(`^o\d`)
	firstFives = regexp.MustCompile(`^(-mini|-nano)?(-\d{4}-\d{2}-\d{2})?$`)
)

// traitsOf reads a name such as gpt-5.4-mini-2026-03-17, o3 or ft:gpt-4.1:org::id.
//
// Efforts: https://developers.openai.com/api/docs/guides/reasoning and the models' own
// pages; marks: https://developers.openai.com/api/docs/guides/prompt-caching, from
// GPT-5.6 on; bounds: https://developers.openai.com/api/docs/guides/structured-outputs,
// not of fine-tuned models.
func traitsOf(model string) traits {
	base, tuned := strings.CutPrefix(model, "ft:")
	if tuned {
		base, _, _ = strings.Cut(base, ":")
	}
	t := traits{reasons: oName.MatchString(base), bounds: !tuned, efforts: map[llm.Effort]string{llm.EffortMinimal: "low"}}
	name := gptName.FindStringSubmatch(base)
	if name == nil {
		return t
	}
	major, _ := strconv.Atoi(name[1]) // digits, and no more than an int holds
	minor, _ := strconv.Atoi(name[2]) // none is 0
	variant := name[3]
	t.reasons = major >= 5 && !strings.HasPrefix(variant, "-chat")
	t.marks = major > 5 || major == 5 && minor >= 6
	first := major == 5 && minor == 0
	switch {
	case strings.HasPrefix(variant, "-pro") && first:
		t.efforts = map[llm.Effort]string{llm.EffortMinimal: "high", llm.EffortLow: "high", llm.EffortMedium: "high"}
	case strings.HasPrefix(variant, "-pro"):
		t.efforts = map[llm.Effort]string{llm.EffortMinimal: "medium", llm.EffortLow: "medium"}
	case first && firstFives.MatchString(variant):
		t.efforts = nil // the only ones that know "minimal"
	}
	return t
}

// effort is the nearest that the model takes.
func (t traits) effort(asked llm.Effort) string {
	if taken, ok := t.efforts[asked]; ok {
		return taken
	}
	return string(asked)
}
