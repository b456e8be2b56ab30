// Package token proves contacts: the shared secret proves the caller, a token in the
// contact's own custom field proves the contact. A token is 32 random bytes that exist
// in clear on their way to that field and nowhere else; here they are kept as SHA-256
// hashes (docs/spec/06-contact.md, "Contact token").
//
// [State] decides, without I/O or clock, which requests are bound, when a token is due
// and which hashes are known. [Keeper] mints and writes.
package token

import (
	"crypto/subtle"
	"slices"
	"time"
)

// The times of docs/spec/06-contact.md, "Contact token".
const (
	// burstAfterConfirmed and burstAfterIssued end the first burst, in which a request
	// without a token is bound: its messages left ManyChat before the field was written.
	burstAfterConfirmed = time.Minute
	burstAfterIssued    = 10 * time.Minute
	// reissueAfter is how often an unbound contact is issued a fresh token.
	reissueAfter = time.Hour
	// reissueFailed is how soon at the earliest, when the last issue failed.
	reissueFailed = time.Minute
	// keepOlder is how long an older token is known once the contact presented a newer
	// one. That one was written is no proof: the write of an older one may land behind it.
	keepOlder = 5 * time.Minute
	// maxUnknown is how many tokens of one issue may have an unknown outcome.
	maxUnknown = 4
	// maxKnown is how many tokens are known at most. The contact presents one of them, or
	// ManyChat loses the answers to a dozen writes.
	maxKnown = 12
	// clockSlack is how far a clock may be set back unnoticed.
	clockSlack = time.Minute
)

// State is what is known of a contact's token. The zero value: none was ever issued.
// Its methods return a changed copy.
type State struct {
	Issued     time.Time `json:"issued,omitzero"`      // when the first token became due
	Confirmed  time.Time `json:"confirmed,omitzero"`   // when the first one was known to be in the field
	Reissued   time.Time `json:"reissued,omitzero"`    // when an unbound request was last issued one
	Last       time.Time `json:"last,omitzero"`        // when anything was last issued
	Generation int64     `json:"generation,omitempty"` // counts issues; a delivery of an earlier one is void
	GaveUp     bool      `json:"gaveUp,omitempty"`     // nobody tries to deliver the newest issue any more
	Known      []Known   `json:"known,omitempty"`      // oldest first
}

// Known is a token that the field may hold.
type Known struct {
	Hash       Hash      `json:"hash"`
	At         time.Time `json:"at"` // when it was minted
	Generation int64     `json:"generation"`
	Confirmed  bool      `json:"confirmed,omitempty"` // it was written, or presented
	Presented  bool      `json:"presented,omitempty"` // by a request of the contact
	DropAt     time.Time `json:"dropAt,omitzero"`     // when it is forgotten; zero: not
}

// Binding says what a request proves about its contact.
type Binding string

// The bindings. Unproven is the roll-out's: the request lacks the token and reads
// history all the same, because tokens are not enforced.
const (
	Bound    Binding = "bound"
	Unbound  Binding = "unbound"
	Unproven Binding = "unproven"
)

// Reads reports whether the request reads and extends the contact's history.
func (b Binding) Reads() bool { return b != Unbound }

// Request is what a message brings.
type Request struct {
	Token     string // as the request held it; empty: none
	Enforced  bool   // CONTACT_TOKENS_ENFORCED
	Candidate Hash   // of the token to be written if one is due; zero: none may be issued
}

// Arrival is what a request comes to.
type Arrival struct {
	Binding Binding
	Starts  bool // the contact's history starts with this message
	Issued  bool // the candidate is known from now on, and is to be written
}

// Arrive judges a request.
func (s State) Arrive(r Request, now time.Time) (Arrival, State) {
	s = s.forget(now)
	if s.Issued.IsZero() {
		a := Arrival{Binding: Bound, Starts: r.Enforced}
		a.Issued, s = s.issue(r.Candidate, now)
		return a, s
	}
	if i := s.find(HashOf(r.Token)); r.Token != "" && i >= 0 {
		return Arrival{Binding: Bound}, s.presented(i, now)
	}
	a := Arrival{Binding: Unbound}
	burst := r.Token == "" && s.inBurst(now)
	switch {
	case burst:
		a.Binding = Bound
	case !r.Enforced:
		a.Binding = Unproven
	}
	if s.GaveUp && due(s.Last, reissueFailed, now) || !burst && due(s.Reissued, reissueAfter, now) {
		if a.Issued, s = s.issue(r.Candidate, now); a.Issued && !burst {
			s.Reissued = now
		}
	}
	return a, s
}

// due reports whether something that was last done at an instant may be done again. An
// instant in the future is a clock that was set back.
func due(last time.Time, every time.Duration, now time.Time) bool {
	return last.IsZero() || !now.Before(last.Add(every)) || now.Before(last)
}

// inBurst reports whether the contact's first messages may still be on their way
// without the token.
func (s State) inBurst(now time.Time) bool {
	if now.After(s.Issued.Add(burstAfterIssued)) || now.Before(s.Issued.Add(-clockSlack)) {
		return false
	}
	return s.Confirmed.IsZero() || !now.After(s.Confirmed.Add(burstAfterConfirmed))
}

// issue begins a new generation with a candidate.
func (s State) issue(h Hash, now time.Time) (bool, State) {
	if h == (Hash{}) {
		return false, s
	}
	if s.Issued.IsZero() {
		s.Issued = now
	}
	s = s.begin(now)
	return true, s.add(h, now)
}

// Backfill starts a new generation, whose first token is minted when it is delivered, for
// a contact of whom no request brought it about: there is no first burst.
func (s State) Backfill(now time.Time) State {
	if s.Issued.IsZero() {
		s.Issued = now.Add(-burstAfterIssued - time.Nanosecond)
	}
	return s.begin(now)
}

func (s State) begin(now time.Time) State {
	s.Generation++
	s.Last, s.GaveUp = now, false
	return s
}

// Minted is what came of minting at a delivery.
type Minted string

// A stuck delivery waits for the contact to write: too many tokens have an unknown
// outcome. A void one has nothing to deliver any more.
const (
	Fresh Minted = "fresh"
	Stuck Minted = "stuck"
	Void  Minted = "void"
)

// Mint adds the token that a delivery of the given generation is about to write.
func (s State) Mint(generation int64, h Hash, now time.Time) (Minted, State) {
	s = s.forget(now)
	switch {
	case generation != s.Generation || s.delivered():
		return Void, s
	case s.unknown() >= maxUnknown:
		return Stuck, s
	}
	return Fresh, s.add(h, now)
}

// delivered reports whether a token of the newest issue reached the field.
func (s State) delivered() bool {
	return slices.ContainsFunc(s.Known, func(k Known) bool { return k.Generation == s.Generation && k.Confirmed })
}

// Written notes that ManyChat took the token.
func (s State) Written(h Hash, now time.Time) State {
	if i := s.find(h); i >= 0 {
		return s.confirm(i, now)
	}
	return s
}

// NotWritten forgets a token that certainly is not in the field.
func (s State) NotWritten(h Hash) State {
	s.Known = slices.DeleteFunc(slices.Clone(s.Known), func(k Known) bool { return k.Hash == h && !k.Confirmed })
	return s
}

// GiveUp notes that a generation is not delivered any more, so that the next request
// that lacks a token is issued one at once.
func (s State) GiveUp(generation int64) State {
	s.GaveUp = s.GaveUp || generation == s.Generation && !s.delivered()
	return s
}

// Has reports whether a token is known to have reached the field.
func (s State) Has() bool { return !s.Confirmed.IsZero() }

// add appends a token of the newest generation. When that is too many, the oldest goes
// that no request presented.
func (s State) add(h Hash, now time.Time) State {
	s.Known = append(slices.Clone(s.Known), Known{Hash: h, At: now, Generation: s.Generation})
	if len(s.Known) > maxKnown {
		i := max(0, slices.IndexFunc(s.Known, func(k Known) bool { return !k.Presented }))
		s.Known = slices.Delete(s.Known, i, i+1)
	}
	return s
}

// confirm marks a token as one that reached the field.
func (s State) confirm(i int, now time.Time) State {
	s.Known = slices.Clone(s.Known)
	s.Known[i].Confirmed = true
	if s.Confirmed.IsZero() {
		s.Confirmed = now
	}
	s.GaveUp = false
	return s
}

// presented marks a token as the one that the contact's field held. What is older is
// forgotten a little later: a message may still be on its way with it, and one that
// then arrives saves it.
func (s State) presented(i int, now time.Time) State {
	s = s.confirm(i, now)
	s.Known[i].DropAt = time.Time{}
	for j := range s.Known {
		s.Known[j].Presented = j == i
		if j < i && s.Known[j].DropAt.IsZero() {
			s.Known[j].DropAt = now.Add(keepOlder)
		}
	}
	return s
}

// forget drops what has had its time.
func (s State) forget(now time.Time) State {
	past := func(k Known) bool { return !k.DropAt.IsZero() && !now.Before(k.DropAt) }
	if slices.ContainsFunc(s.Known, past) {
		s.Known = slices.DeleteFunc(slices.Clone(s.Known), past)
	}
	return s
}

// find is the place of a hash, or -1. It compares with every one in constant time.
func (s State) find(h Hash) int {
	at := -1
	for i, k := range s.Known {
		if subtle.ConstantTimeCompare(k.Hash[:], h[:]) == 1 {
			at = i
		}
	}
	return at
}

// unknown counts the tokens of the newest issue whose outcome is unknown.
func (s State) unknown() (n int) {
	for _, k := range s.Known {
		if k.Generation == s.Generation && !k.Confirmed {
			n++
		}
	}
	return n
}

// Equal reports whether two states say the same.
func (s State) Equal(other State) bool {
	return s.Issued.Equal(other.Issued) && s.Confirmed.Equal(other.Confirmed) && s.Reissued.Equal(other.Reissued) && s.Last.Equal(other.Last) &&
		s.Generation == other.Generation && s.GaveUp == other.GaveUp &&
		slices.EqualFunc(s.Known, other.Known, func(a, b Known) bool {
			return a.Hash == b.Hash && a.Confirmed == b.Confirmed && a.Presented == b.Presented && a.Generation == b.Generation &&
				a.At.Equal(b.At) && a.DropAt.Equal(b.DropAt)
		})
}
