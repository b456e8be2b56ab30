package slots

import "slices"

// tenth is of how many calls each class has one at least, while it has calls that wait.
const tenth = 10

// waiter is a call that waits for a slot. granted is closed when it has it.
type waiter struct {
	class   int
	granted chan struct{}
}

// lines are the calls that wait for the slots of one rate limit, a line for each class, the
// most urgent first.
type lines struct {
	waiting [][]*waiter
	served  int   // slots so far
	due     []int // with how many slots served a class may have its tenth
	yielded bool  // the last slot was a class's tenth, ahead of a more urgent one
}

func newLines(classes int) lines {
	return lines{waiting: make([][]*waiter, classes), due: make([]int, classes)}
}

func (l *lines) len() (n int) {
	for _, line := range l.waiting {
		n += len(line)
	}
	return n
}

func (l *lines) add(w *waiter) {
	if len(l.waiting[w.class]) == 0 {
		l.due[w.class] = max(l.due[w.class], l.served) // what it did not use is gone
	}
	l.waiting[w.class] = append(l.waiting[w.class], w)
}

// remove takes a call out of its line; it is not there when it had its slot.
func (l *lines) remove(w *waiter) bool {
	line := l.waiting[w.class]
	i := slices.Index(line, w)
	if i >= 0 {
		l.waiting[w.class] = slices.Delete(line, i, i+1)
	}
	return i >= 0
}

// next takes the call that has the next slot: the first of the most urgent class, or of the
// class whose tenth is the longest due. No two tenths in a row go ahead of a more urgent
// call, which therefore waits for one call at most; and since the classes behind the most
// urgent, fewer than five, have a tenth of the slots each, every other slot is enough for
// them. At least one call must wait.
func (l *lines) next() *waiter {
	urgent := slices.IndexFunc(l.waiting, func(line []*waiter) bool { return len(line) > 0 })
	pick := urgent
	for c := urgent + 1; c < len(l.waiting) && !l.yielded; c++ {
		if len(l.waiting[c]) > 0 && l.due[c] <= l.served && (pick == urgent || l.due[c] < l.due[pick]) {
			pick = c
		}
	}
	l.yielded = pick != urgent
	l.served++
	l.due[pick] = min(l.due[pick], l.served) + tenth
	w := l.waiting[pick][0]
	l.waiting[pick] = slices.Delete(l.waiting[pick], 0, 1)
	return w
}
