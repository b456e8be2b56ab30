package token_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/token"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// request is an enforced request with a token and a fresh candidate.
func request(presented string, candidate string) token.Request {
	return token.Request{Token: presented, Enforced: true, Candidate: token.HashOf(candidate)}
}

// begun is a contact whose first message came at start and whose first token is "one".
func begun(t *testing.T) token.State {
	t.Helper()
	a, s := token.State{}.Arrive(request("", "one"), start)
	if a != (token.Arrival{Binding: token.Bound, Starts: true, Issued: true}) {
		t.Fatalf("the first message came to %+v", a)
	}
	return s
}

// Holds docs/spec/06-contact.md, "Contact token": the table of requests.
func TestArrive(t *testing.T) {
	confirmed := func(s token.State) token.State { return s.Written(token.HashOf("one"), start.Add(5*time.Second)) }
	asIs := func(s token.State) token.State { return s }
	tests := []struct {
		name   string
		state  func(token.State) token.State
		token  string
		after  time.Duration
		want   token.Binding
		issued bool
	}{
		{"a burst before the write is known", asIs, "", 8 * time.Second, token.Bound, false},
		{"ten minutes after the first issue", asIs, "", 10 * time.Minute, token.Bound, false},
		{"later than that, never confirmed", asIs, "", 10*time.Minute + 1, token.Unbound, true},
		{"a burst a minute after the write", confirmed, "", 65 * time.Second, token.Bound, false},
		{"later than that", confirmed, "", 65*time.Second + 1, token.Unbound, true},
		{"a wrong token in the burst", asIs, "wrong", 8 * time.Second, token.Unbound, true},
		{"the token", confirmed, "one", 24 * time.Hour, token.Bound, false},
		{"the token, whose write's answer was lost", asIs, "one", 24 * time.Hour, token.Bound, false},
		{"a wrong token", confirmed, "wrong", 24 * time.Hour, token.Unbound, true},
		{"the token in another case", confirmed, "One", 24 * time.Hour, token.Unbound, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _ := tt.state(begun(t)).Arrive(request(tt.token, "two"), start.Add(tt.after))
			if a.Binding != tt.want || a.Issued != tt.issued || a.Starts {
				t.Errorf("the request came to %+v, want %s, issued %v", a, tt.want, tt.issued)
			}
		})
	}
}

// Holds docs/spec/06-contact.md, "Contact token": a roll-out reads history all the same.
func TestNotEnforced(t *testing.T) {
	r := token.Request{Candidate: token.HashOf("one")}
	a, s := token.State{}.Arrive(r, start)
	if a != (token.Arrival{Binding: token.Bound, Issued: true}) {
		t.Errorf("the first message came to %+v, which must not cut the history that is there", a)
	}
	s = s.Written(token.HashOf("one"), start)
	for _, presented := range []string{"", "wrong"} {
		r := token.Request{Token: presented, Candidate: token.HashOf("two")}
		if a, _ := s.Arrive(r, start.Add(time.Hour)); a.Binding != token.Unproven || !a.Binding.Reads() || !a.Issued {
			t.Errorf("token %q came to %+v", presented, a)
		}
	}
	if a, _ := s.Arrive(token.Request{Token: "one"}, start.Add(time.Hour)); a.Binding != token.Bound {
		t.Errorf("the token came to %+v", a)
	}
}

// Holds docs/spec/06-contact.md, "Contact token": an unbound request is issued a fresh
// token at most once an hour, and sooner when the last one failed.
func TestReissue(t *testing.T) {
	s := begun(t).Written(token.HashOf("one"), start)
	arrive := func(after time.Duration, candidate string) bool {
		var a token.Arrival
		a, s = s.Arrive(request("wrong", candidate), start.Add(after))
		return a.Issued
	}
	if !arrive(2*time.Hour, "two") || arrive(2*time.Hour+59*time.Minute, "three") || !arrive(3*time.Hour, "four") {
		t.Error("an unbound contact is issued a token once an hour")
	}
	s = s.NotWritten(token.HashOf("four")).GiveUp(s.Generation)
	if arrive(3*time.Hour+59*time.Second, "five") || !arrive(3*time.Hour+time.Minute, "five") {
		t.Error("an issue that was given up is made up for a minute later")
	}
	s = s.GiveUp(s.Generation - 1)
	if arrive(3*time.Hour+5*time.Minute, "six") {
		t.Error("giving up an earlier issue gave up the newest one")
	}
	s = s.Written(token.HashOf("five"), start).GiveUp(s.Generation)
	if arrive(3*time.Hour+10*time.Minute, "six") {
		t.Error("an issue whose token was written cannot be given up")
	}
}

// Holds docs/spec/06-contact.md, "Contact token": known are the confirmed one, up to four
// newer ones of unknown outcome, and for five minutes the older ones.
func TestKnownHashes(t *testing.T) {
	s := begun(t)
	at := start.Add(time.Minute)
	for i, name := range []string{"b", "c", "d"} {
		minted, next := s.Mint(1, token.HashOf(name), at)
		if s = next; minted != token.Fresh {
			t.Fatalf("attempt %d came to %s", i, minted)
		}
	}
	if minted, _ := s.Mint(1, token.HashOf("e"), at); minted != token.Stuck {
		t.Errorf("a fifth token of unknown outcome was %s", minted)
	}
	bound := func(presented string, after time.Duration) bool {
		a, _ := s.Arrive(request(presented, "x"), at.Add(after))
		return a.Binding == token.Bound
	}
	for _, name := range []string{"one", "b", "c", "d"} {
		if !bound(name, time.Hour) {
			t.Errorf("%s may be in the field and is not known", name)
		}
	}
	// c was presented: what is older goes in five minutes, what is newer stays.
	_, s = s.Arrive(request("c", "x"), at)
	for _, c := range []struct {
		token string
		after time.Duration
		want  bool
	}{
		{"one", keep - 1, true}, {"one", keep, false}, {"b", keep - 1, true}, {"b", keep, false},
		{"c", 1000 * time.Hour, true}, {"d", 1000 * time.Hour, true},
	} {
		if got := bound(c.token, c.after); got != c.want {
			t.Errorf("%s after %v: bound is %v", c.token, c.after, got)
		}
	}
	// A write that landed late: the field holds b after all, and b stays.
	_, s = s.Arrive(request("b", "x"), at.Add(keep-1))
	if !bound("b", 1000*time.Hour) {
		t.Error("a token that was presented was forgotten")
	}
}

const keep = 5 * time.Minute

// Holds docs/spec/06-contact.md, "Contact token": a delivery is of its generation.
func TestMint(t *testing.T) {
	s := begun(t)
	if minted, _ := s.Mint(0, token.HashOf("x"), start); minted != token.Void {
		t.Errorf("an earlier generation is %s", minted)
	}
	if minted, _ := s.Written(token.HashOf("one"), start).Mint(1, token.HashOf("x"), start); minted != token.Void {
		t.Errorf("a delivered generation is %s", minted)
	}
	// Four of unknown outcome: none is minted until somebody writes, and then none of the
	// four is forgotten, since the field may hold any.
	for _, name := range []string{"b", "c", "d"} {
		_, s = s.Mint(1, token.HashOf(name), start.Add(time.Minute))
	}
	if minted, _ := s.Mint(1, token.HashOf("e"), start.Add(time.Minute)); minted != token.Stuck {
		t.Errorf("a fifth of unknown outcome is %s", minted)
	}
	s = s.GiveUp(1)
	a, s := s.Arrive(request("forged", "e"), start.Add(5*time.Minute))
	if !a.Issued {
		t.Error("with four of unknown outcome the next message brings no token")
	}
	for _, name := range []string{"one", "b", "c", "d", "e"} {
		if a, _ := s.Arrive(request(name, "f"), start.Add(time.Hour)); a.Binding != token.Bound {
			t.Errorf("%s came to %+v", name, a)
		}
	}
}

// Holds docs/spec/06-contact.md, "Contact token": a write that lands behind its successor's
// leaves an older token in the field.
func TestLateWrite(t *testing.T) {
	_, s := begun(t).Mint(1, token.HashOf("two"), start.Add(12*time.Second))
	s = s.Written(token.HashOf("two"), start.Add(13*time.Second))
	// "one" lands at 15 s.
	if a, _ := s.Arrive(request("one", "x"), start.Add(24*time.Hour)); a.Binding != token.Bound {
		t.Errorf("the token in the field came to %+v", a)
	}
}

// Holds docs/spec/06-contact.md, "Contact token": a clock that was set back opens no first
// burst and stops no issue.
func TestClockSetBack(t *testing.T) {
	s := begun(t).Written(token.HashOf("one"), start)
	_, s = s.Arrive(request("wrong", "two"), start.Add(time.Hour))
	a, _ := s.Arrive(request("", "three"), start.Add(-24*time.Hour))
	if a.Binding != token.Unbound || !a.Issued {
		t.Errorf("a day before, a request without a token came to %+v", a)
	}
}

// Holds docs/spec/06-contact.md, "Contact token": what is known stays bounded, and the token
// that the contact presented stays in it.
func TestKnownIsBounded(t *testing.T) {
	_, s := begun(t).Arrive(request("one", "x"), start.Add(time.Minute))
	for i := range 50 {
		at := start.Add(time.Duration(i+1) * 2 * time.Hour)
		name := fmt.Sprint("forged-", i)
		_, s = s.Arrive(request("wrong", name), at)
		s = s.Written(token.HashOf(name), at)
	}
	if len(s.Known) > 12 {
		t.Errorf("%d hashes are kept", len(s.Known))
	}
	if a, _ := s.Arrive(request("one", "x"), start.Add(200*time.Hour)); a.Binding != token.Bound {
		t.Errorf("the contact's own token came to %+v", a)
	}
}

// Holds docs/spec/06-contact.md, "Contact token": whatever ManyChat does to the writes, a
// contact whose messages carry what its field holds is bound from the first message
// after a write landed, and nobody else ever is once the first burst is over.
func TestAnyWritesKeepTheContactBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, made := start, 0
		field := ""         // what the contact's field holds at ManyChat
		var flying []string // writes whose answer was lost and that have not landed yet
		candidate := func() string { made++; return fmt.Sprint("token-", made) }
		write := func(s token.State, name string) token.State {
			switch rapid.IntRange(0, 3).Draw(t, "write") {
			case 0:
				field = name
				return s.Written(token.HashOf(name), now)
			case 1:
				field = name // the answer is lost
			case 2:
				return s.NotWritten(token.HashOf(name))
			default:
				flying = append(flying, name)
			}
			return s
		}
		first := candidate()
		_, s := token.State{}.Arrive(request("", first), now)
		s = write(s, first)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(40*time.Minute)).Draw(t, "pause")))
			// A lost write lands within a minute or never.
			for _, name := range flying {
				if rapid.Bool().Draw(t, "lands") && now.Sub(start) > 0 {
					field = name
				}
			}
			flying = nil
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0: // the worker tries
				name := candidate()
				minted, next := s.Mint(s.Generation, token.HashOf(name), now)
				if s = next; minted == token.Fresh {
					s = write(s, name)
				}
			case 1: // the row dies
				s = s.GiveUp(s.Generation)
			case 2: // a forger writes
				name := candidate()
				a, next := s.Arrive(request("forged", name), now)
				if s = next; a.Binding != token.Unbound {
					t.Fatalf("a forged token came to %+v", a)
				}
				if a.Issued {
					s = write(s, name)
				}
			default: // the contact writes
				name := candidate()
				a, next := s.Arrive(request(field, name), now)
				if field != "" && a.Binding != token.Bound && known(s, field) {
					t.Fatalf("the contact's own token %s came to %+v", field, a)
				}
				if s = next; a.Issued {
					s = write(s, name)
				}
			}
			if len(s.Known) > 12 {
				t.Fatalf("%d hashes are kept", len(s.Known))
			}
		}
		// ManyChat works again and the contact writes twice: bound at the latest then.
		for range 2 {
			now = now.Add(2 * time.Hour)
			name := candidate()
			a, next := s.Arrive(request(field, name), now)
			if s = next; a.Issued {
				field = name
				s = s.Written(token.HashOf(name), now)
			}
		}
		if a, _ := s.Arrive(request(field, "last"), now.Add(time.Hour)); a.Binding != token.Bound {
			t.Fatalf("the contact never got its history back: %+v with field %q, state %+v", a, field, s)
		}
	})
}

// known reports whether a token was still known when the state was last looked at.
func known(s token.State, name string) bool {
	for _, k := range s.Known {
		if k.Hash == token.HashOf(name) && k.DropAt.IsZero() {
			return true
		}
	}
	return false
}
