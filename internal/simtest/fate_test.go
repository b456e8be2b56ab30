package simtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// lasts is how long contacts write, about.
const lasts = 60 * time.Second

// talk is a contact who writes.
func (w *World) talk(contact int) {
	stream := fmt.Sprint("talk ", contact)
	for n := range perContact {
		pause := w.dice.span(stream, 100*time.Millisecond, 20*time.Second)
		if w.dice.chance(stream, 0.45) {
			pause = w.dice.span(stream, 10*time.Millisecond, 2500*time.Millisecond)
		}
		time.Sleep(pause)
		w.comesBack(contact, n)
		name := nameOf(contact, n, false)
		w.write(contact, name)
		if w.dice.chance(stream, 0.15) { // the same once more
			time.Sleep(w.dice.span(stream, 50*time.Millisecond, 2900*time.Millisecond))
			w.write(contact, name)
		}
		if w.dice.chance(stream, 0.12) {
			w.talking.Go(func() { w.forge(contact, n) })
		}
		if w.dice.chance(stream, 0.25) { // and waits for an answer
			time.Sleep(w.dice.span(stream, 9*time.Second, 25*time.Second))
		}
	}
}

// write sends a message. The contact does not wait for what becomes of it, and ManyChat
// sometimes does not wait as long as it says.
func (w *World) write(contact int, name string) {
	w.trace.note("c%d writes %s", contact, name)
	stream := "write " + name
	ctx, cancel := context.WithCancel(context.Background())
	if w.faulty() && w.dice.chance(stream, 0.08) {
		time.AfterFunc(w.dice.span(stream, time.Millisecond, 9*time.Second), cancel)
	}
	w.talking.Go(func() {
		defer cancel()
		_, _ = w.account.Send(ctx, subscriber(contact), manychattest.Input{Text: w.textOf(name)}) // what becomes of it the phone shows
	})
}

// forge sends a message in the name of a contact, with the secret but without their token.
func (w *World) forge(contact, n int) {
	name := nameOf(contact, n, true)
	w.trace.note("somebody writes %s as c%d", name, contact)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	text := "Something forged, number " + name + ", about the courses"
	if w.wishes.end[name] {
		text = w.textOf(name)
	}
	body := fmt.Sprintf(`{"subscriber_id":%q,"text":%q,"ai_token":"made-up-token-of-nobody"}`, subscriber(contact), text)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:3000"+inbound.MessagePath, strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forged", "yes")
	if resp, err := (door{w}).RoundTrip(req); err == nil {
		_ = resp.Body.Close()
	}
}

// fate draws what goes wrong, and lets it happen.
func (w *World) fate() {
	var life [2][]func()
	w.dice.draw("fate", func(r *rand.Rand) {
		w.louder = []float64{0, 0.01, 0.03, 0.12}[r.IntN(4)]
		for slot := range life {
			for range r.IntN(4) {
				life[slot] = append(life[slot], w.event(r, slot))
			}
		}
		for range []int{0, 0, 0, 1, 1, 2}[r.IntN(6)] {
			from := time.Now().Add(between(r, 0, lasts))
			length := between(r, time.Second, 8*time.Second)
			if r.IntN(3) == 0 {
				length = between(r, 8*time.Second, 100*time.Second)
			}
			o := outage{span{from, from.Add(length)}, r.IntN(3) - 1}
			w.outages = append(w.outages, o)
		}
	})
	for _, o := range w.outages {
		w.talking.Go(func() {
			time.Sleep(time.Until(o.from))
			w.trace.note("the database is away for %d, for %s", o.slot, o.to.Sub(o.from))
		})
	}
	for slot, events := range life {
		w.talking.Go(func() {
			for _, happens := range events {
				time.Sleep(w.dice.span(fmt.Sprint("life ", slot), time.Second, 30*time.Second))
				happens()
			}
		})
	}
	w.talking.Go(w.mischief)
}

// event draws one thing that happens to the process in a place.
func (w *World) event(r *rand.Rand, slot int) func() {
	long := between(r, time.Second, 8*time.Second)
	if r.IntN(2) == 0 {
		long = between(r, 8*time.Second, 50*time.Second)
	}
	again := between(r, time.Millisecond, 12*time.Second)
	seconds := int64(r.IntN(240) - 120)
	steps := []string{"", "Record", "Start", "Settle", "Stamp", "Progress", "Release", "NoteFlow", "Acted", "Claim",
		string(writesReply), string(startsReply), string(sendsFlow), string(acts), string(acts), string(writesToken)}
	step, atMost := steps[r.IntN(len(steps))], between(r, time.Second, 20*time.Second)
	switch r.IntN(8) {
	case 0, 1, 2:
		return func() {
			p := w.at(slot)
			p.lieInWait(step, atMost, func() {
				w.trace.note("%s is killed at %q", p.name, step)
				p.kill()
			})
			time.Sleep(again)
			w.boot(slot)
		}
	case 3, 4:
		return func() {
			p := w.at(slot)
			p.lieInWait(step, atMost, func() {
				w.trace.note("%s stands still at %q for %s", p.name, step, long)
				p.freeze()
			})
			time.Sleep(long)
			w.trace.note("%s goes on", p.name)
			p.thaw()
		}
	case 5, 6:
		return func() {
			w.at(slot).stop()
			time.Sleep(again)
			w.boot(slot)
		}
	}
	return func() {
		w.trace.note("the clock is set by %d seconds", seconds)
		w.mu.Lock()
		w.sets = append(w.sets, time.Now())
		w.mu.Unlock()
		w.clock.set(seconds)
	}
}

// mischief is what goes wrong at ManyChat: some faults for a while, then others.
func (w *World) mischief() {
	for range w.dice.below("mischief", 5) {
		time.Sleep(w.dice.span("mischief", 10*time.Millisecond, 15*time.Second))
		var set manychattest.Faults
		w.dice.draw("mischief", func(r *rand.Rand) {
			set.Seed = r.Uint64()
			for range 1 + r.IntN(3) {
				set.Faults = append(set.Faults, drawFault(r))
			}
		})
		w.trace.note("at ManyChat: %s", saidOf(set.Faults))
		if err := w.account.SetFaults(set); err != nil {
			w.t.Error(err)
		}
		time.Sleep(w.dice.span("mischief", time.Second, 25*time.Second))
		w.trace.note("ManyChat is well")
		if err := w.account.SetFaults(manychattest.Faults{}); err != nil {
			w.t.Error(err)
		}
	}
}

func drawFault(r *rand.Rand) fault.Fault {
	kinds := fault.Kinds()
	paths := []string{"", "/fb/sending/sendFlow", "/fb/sending/sendFlow", "/fb/subscriber/setCustomFieldByName", "/fb/subscriber/setCustomFieldByName",
		"/fb/subscriber/addTagByName", "/fb/subscriber/getInfo", "/fb/*"}
	f := fault.Fault{Kind: kinds[r.IntN(len(kinds))], Path: paths[r.IntN(len(paths))]}
	if r.IntN(2) == 0 {
		f.Probability = 0.1 + 0.8*r.Float64()
	}
	switch f.Kind {
	case fault.Latency:
		f.DelayMS = 50 + r.IntN(4000)
	case fault.SlowSuccess:
		f.DelayMS = []int{0, 5000, 12_000, 32_000}[r.IntN(4)]
	case fault.MissingField:
		f.Name, f.Path = []string{replyField, tokenField, "choice"}[r.IntN(3)], ""
	case fault.MissingFlow:
		f.Name, f.Path = []string{replyFlow, flowNs(r.IntN(places))}[r.IntN(2)], ""
	case fault.LostInbound, fault.DuplicateInbound:
		f.Path = ""
	}
	if r.IntN(3) == 0 {
		f.Contact = subscriber(r.IntN(contacts))
	}
	return f
}

func saidOf(faults []fault.Fault) string {
	var all []string
	for _, f := range faults {
		all = append(all, fmt.Sprintf("%s %s %s %s %.2f", f.Kind, f.Path, f.Name, f.Contact, f.Probability))
	}
	return strings.Join(all, ", ")
}
