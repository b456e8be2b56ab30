package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// prefixes begin the names that are nobody else's.
var prefixes = []string{"AGENT_", "MANYCHAT_", "CALLBACK_", "OUTBOX_", "CONSOLE_", "CONTACT_TOKENS_", "OPENAI_COMPATIBLE_"}

// unknown warns about variables that look like ours and are none: most are misspelt.
func (l *loader) unknown() Problems {
	names := make([]string, len(l.variables))
	for i, v := range l.variables {
		names[i] = v.name
	}
	var warnings Problems
	all := maps.Clone(l.environment)
	maps.Copy(all, l.dotenv)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if value, _ := l.lookup(name); value == "" {
			continue // as good as unset
		}
		_, inFile := l.dotenv[name]
		if slices.Contains(names, name) || !ours(name) && !inFile {
			continue
		}
		near, similar := document.Nearest(name, names)
		if !ours(name) && !similar {
			continue // .env may hold what other programs need
		}
		sentence := "is not a variable of this program and is ignored"
		if similar {
			sentence += ": did you mean " + near + "?"
		}
		warnings = append(warnings, Problem{name, sentence})
	}
	return warnings
}

// withoutEffect warns about variables that are set and that nothing uses yet.
func (l *loader) withoutEffect() Problems {
	var warnings Problems
	for _, v := range l.variables {
		if v.planned() && v.origin != Default {
			warnings = append(warnings, Problem{v.name, "is set and has no effect in this version"})
		}
	}
	return warnings
}

func ours(name string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
