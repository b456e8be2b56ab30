package archtest

import (
	"path"
	"strings"
)

// Ignore is a .gitignore file: the part of its language that this repository uses.
// That is a leading slash, a trailing slash, * within a name, and ! for exceptions;
// the last pattern that matches decides.
type Ignore []pattern

type pattern struct {
	glob     string
	anchored bool // matches the path from the root, not any name
	dirOnly  bool
	negated  bool
}

// ParseIgnore reads the text of a .gitignore file.
func ParseIgnore(text string) Ignore {
	var rules Ignore
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var p pattern
		line, p.negated = strings.CutPrefix(line, "!")
		line, p.dirOnly = strings.CutSuffix(line, "/")
		p.anchored = strings.Contains(line, "/")
		p.glob = strings.TrimPrefix(line, "/")
		rules = append(rules, p)
	}
	return rules
}

// Match reports whether the rules ignore the path itself. A file below an ignored
// directory is ignored too; a walk from the root finds that by skipping the directory.
func (ig Ignore) Match(p string, isDir bool) bool {
	ignored := false
	for _, rule := range ig {
		name := p
		if !rule.anchored {
			name = path.Base(p)
		}
		if rule.dirOnly && !isDir {
			continue
		}
		if ok, err := path.Match(rule.glob, name); err == nil && ok {
			ignored = !rule.negated
		}
	}
	return ignored
}

// Covers reports whether a file is ignored, by itself or by a directory above it.
func (ig Ignore) Covers(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if ig.Match(dir, true) {
			return true
		}
	}
	return ig.Match(file, false)
}
