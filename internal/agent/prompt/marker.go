package prompt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What tells a marker from two ordinary words is weighed; from enough on it is one.
const (
	enough      = 8
	byJoint     = enough // an underscore within the words
	byEnd       = 5      // END before them
	byAngle     = 4      // each bracket beside them
	byInner     = -4     // each bracket within them, when no underscore is: "a > contact > message"
	byLine      = 3      // nothing else on their lines
	byRound     = 2      // each round bracket,
	mostByRound = 3      // up to so much a side: a smiley may end in many
	byRule      = 1      // each other sign,
	mostByRule  = 3      // up to so much a side
	enoughRules = 3      // so many signs go with a marker when it is taken out
)

// span is a part of a text, in bytes.
type span struct{ from, to int }

// marks are what stands beside a word up to the next letter or digit.
type marks struct {
	angles, rounds, rules int
	angle, rule           span // from the first to the last of them
	line                  bool // a line, or the text, begins or ends here
}

func marksOf(s symbol) marks {
	at := span{s.start, s.end}
	switch s.kind {
	case angle:
		return marks{angles: 1, angle: at}
	case round:
		return marks{rounds: 1}
	case rule, joint:
		return marks{rules: 1, rule: at}
	}
	return marks{line: s.kind == newline}
}

// then is m followed by more.
func (m marks) then(more marks) marks {
	if m.angles > 0 && more.angles > 0 {
		more.angle.from = m.angle.from
	} else if m.angles > 0 {
		more.angle = m.angle
	}
	if m.rules > 0 && more.rules > 0 {
		more.rule.from = m.rule.from
	} else if m.rules > 0 {
		more.rule = m.rule
	}
	return marks{m.angles + more.angles, m.rounds + more.rounds, m.rules + more.rules, more.angle, more.rule, m.line || more.line}
}

func (m marks) weight() int {
	return byAngle*m.angles + min(byRound*m.rounds, mostByRound) + min(byRule*m.rules, mostByRule)
}

// widen makes a marker's span hold the marks that go with it.
func (m marks) widen(s span) span {
	if m.angles > 0 {
		s.from, s.to = min(s.from, m.angle.from), max(s.to, m.angle.to)
	}
	if m.rules >= enoughRules {
		s.from, s.to = min(s.from, m.rule.from), max(s.to, m.rule.to)
	}
	return s
}

// step is a symbol that was read, with what is known of the text up to it.
type step struct {
	symbol
	matched int   // letters of the core that the text ends with
	prev    int   // step of the letter before it; -1: none
	joints  int   // underscores so far
	angles  int   // brackets so far
	core    int   // step of a core's last letter that only marks follow; -1: none
	marks   marks // since the last letter or digit
}

// markers finds what is to be taken out, from left to right. Once a marker is found,
// reading goes on as if it had never been there.
func markers(text string, as escaping) []span {
	all := slices.AppendSeq(make([]symbol, 0, len(text)), symbols(text, as))
	after := make([]marks, len(all)+1) // the marks from each symbol on
	after[len(all)].line = true
	for i, s := range slices.Backward(all) {
		if s.isMark() {
			after[i] = marksOf(s).then(after[i+1])
		}
	}
	r := reading{make([]step, 0, len(all))}
	var found []span
	for i := 0; i < len(all); {
		r.add(all[i])
		i++
		for marker, ok := r.marker(after[i]); ok; marker, ok = r.marker(after[i]) {
			r.dropFrom(marker.from)
			for i < len(all) && all[i].start < marker.to {
				i++
			}
			found = cover(found, marker)
		}
	}
	return found
}

// cover adds a span, and takes in those that it touches or that lie behind its start.
func cover(spans []span, s span) []span {
	for len(spans) > 0 && spans[len(spans)-1].to >= s.from {
		last := spans[len(spans)-1]
		s.from, s.to = min(s.from, last.from), max(s.to, last.to)
		spans = spans[:len(spans)-1]
	}
	return append(spans, s)
}

// reading is the text read so far, without the markers in it.
type reading struct{ steps []step }

func (r *reading) add(s symbol) {
	at := len(r.steps)
	last := step{prev: -1, core: -1, marks: marks{line: true}}
	if at > 0 {
		last = r.steps[at-1]
		if last.isLetter() {
			last.prev = at - 1
		}
	}
	next := step{symbol: s, matched: last.matched, prev: last.prev, joints: last.joints, angles: last.angles, core: -1}
	switch {
	case s.isLetter():
		next.matched = advance(last.matched, s.kind)
		if next.matched == len(core) {
			next.core = at
		}
	case s.isMark():
		next.core, next.marks = last.core, last.marks.then(marksOf(s))
		switch s.kind {
		case joint:
			next.joints++
		case angle:
			next.angles++
		}
	}
	r.steps = append(r.steps, next)
}

// dropFrom forgets what begins at or behind a place in the text.
func (r *reading) dropFrom(from int) {
	for len(r.steps) > 0 && r.steps[len(r.steps)-1].start >= from {
		r.steps = r.steps[:len(r.steps)-1]
	}
}

// marker tells whether the text read so far ends in a marker, marks aside, when after is
// what follows.
func (r *reading) marker(after marks) (span, bool) {
	if len(r.steps) == 0 || r.steps[len(r.steps)-1].core < 0 {
		return span{}, false
	}
	last := r.steps[len(r.steps)-1]
	first := last.core
	for range len(core) - 1 {
		first = r.steps[first].prev
	}
	before, inner, weight := r.before(first), first, 0
	if end, ok := r.endBefore(first); ok {
		outside := r.before(end)
		line := outside.line
		before, first, weight = outside.then(before), end, byEnd
		before.line = line
	}
	after = last.marks.then(after)
	weight += before.weight() + after.weight()
	if r.steps[first].joints < r.steps[last.core].joints {
		weight += byJoint
	} else {
		weight += byInner * (r.steps[last.core].angles - r.steps[inner].angles)
	}
	if before.line && after.line {
		weight += byLine
	}
	words := span{r.steps[first].start, r.steps[last.core].end}
	return after.widen(before.widen(words)), weight >= enough
}

// before are the marks before a step.
func (r *reading) before(at int) marks {
	if at == 0 {
		return marks{line: true}
	}
	return r.steps[at-1].marks
}

// endBefore finds the word END that the letters before a step spell.
func (r *reading) endBefore(at int) (first int, ok bool) {
	for _, letter := range []byte("DNE") {
		if at = r.steps[at].prev; at < 0 || r.steps[at].kind != letter {
			return 0, false
		}
	}
	if at > 0 && r.steps[at-1].isLetter() && r.steps[at-1].end >= r.steps[at].start {
		return 0, false // the end of a longer word
	}
	return at, true
}

// without takes spans out of a text. A space keeps apart what only they kept apart.
func without(text string, spans []span) string {
	var b strings.Builder
	from := 0
	for _, s := range append(spans, span{len(text), len(text)}) {
		piece := text[from:s.from]
		if b.Len() > 0 && piece != "" {
			last, _ := utf8.DecodeLastRuneInString(b.String())
			if first, _ := utf8.DecodeRuneInString(piece); !unicode.IsSpace(last) && !unicode.IsSpace(first) {
				b.WriteByte(' ')
			}
		}
		b.WriteString(piece)
		from = s.to
	}
	return b.String()
}
