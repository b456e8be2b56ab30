package fault_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

func injector(t *testing.T, seed uint64, faults ...fault.Fault) *fault.Injector {
	t.Helper()
	in := &fault.Injector{}
	if err := in.Set(fault.Set{Seed: seed, Faults: faults}); err != nil {
		t.Fatal(err)
	}
	return in
}

// Holds docs/reference/manychat-platform.md, section 7, "Fault injection", where a
// fault strikes.
func TestWhereAFaultStrikes(t *testing.T) {
	call := fault.Call{Path: "/fb/sending/sendFlow", Family: "sendFlow", Contact: "1", Names: []string{"content1"}}
	tests := []struct {
		fault fault.Fault
		want  bool
	}{
		{fault.Fault{Kind: fault.Dropped}, true},
		{fault.Fault{Kind: fault.Dropped, Path: "/fb/sending/sendFlow"}, true},
		{fault.Fault{Kind: fault.Dropped, Path: "/fb/sending/*"}, true},
		{fault.Fault{Kind: fault.Dropped, Path: "sendFlow"}, true},
		{fault.Fault{Kind: fault.Dropped, Path: "/fb/page/*"}, false},
		{fault.Fault{Kind: fault.Dropped, Path: "subscriber writes"}, false},
		{fault.Fault{Kind: fault.Dropped, Contact: "1"}, true},
		{fault.Fault{Kind: fault.Dropped, Contact: "2"}, false},
		{fault.Fault{Kind: fault.MissingFlow, Name: "content1"}, true},
		{fault.Fault{Kind: fault.MissingFlow, Name: "content2"}, false},
		{fault.Fault{Kind: fault.LostInbound}, false},
	}
	for _, tt := range tests {
		if got := injector(t, 0, tt.fault).API(call).Fault.Kind != ""; got != tt.want {
			t.Errorf("%+v: got %v", tt.fault, got)
		}
	}
	if (&fault.Injector{}).API(call) != (fault.Plan{}) {
		t.Error("the zero value must let everything pass")
	}
}

func TestLatenciesAddUpAndTheFirstFaultCounts(t *testing.T) {
	in := injector(t, 0,
		fault.Fault{Kind: fault.Latency, DelayMS: 20}, fault.Fault{Kind: fault.Dropped, Times: 1},
		fault.Fault{Kind: fault.RateLimited}, fault.Fault{Kind: fault.Latency, DelayMS: 30, Times: 1})
	want := []fault.Plan{
		{Latency: 50 * time.Millisecond, Fault: fault.Fault{Kind: fault.Dropped, Times: 1}},
		{Latency: 20 * time.Millisecond, Fault: fault.Fault{Kind: fault.RateLimited}},
	}
	for i, w := range want {
		if got := in.API(fault.Call{}); got != w {
			t.Errorf("call %d: got %+v, want %+v", i, got, w)
		}
	}
}

// A seed gives a contact the same faults, whatever other contacts do in between.
func TestDiceAreSeededPerContact(t *testing.T) {
	half := fault.Fault{Kind: fault.Dropped, Probability: 0.5}
	series := func(seed uint64, others int) (s string) {
		in := injector(t, seed, half)
		for range 200 {
			for i := range others {
				in.API(fault.Call{Path: "/p", Contact: fmt.Sprint("other", i)})
			}
			s += fmt.Sprint(len(in.API(fault.Call{Path: "/p", Contact: "1"}).Fault.Kind) / 7)
		}
		return s
	}
	alone := series(1, 0)
	if alone != series(1, 3) {
		t.Error("other contacts changed the dice")
	}
	if alone == series(2, 0) {
		t.Error("the seed has no effect")
	}
	struck := 0
	for _, c := range alone {
		struck += int(c - '0')
	}
	if struck < 70 || struck > 130 {
		t.Errorf("%d of 200 at a half", struck)
	}
}

func TestValidate(t *testing.T) {
	bad := []fault.Fault{
		{}, {Kind: "x"}, {Kind: fault.MissingField}, {Kind: fault.Latency}, {Kind: fault.Dropped, Probability: 1.5},
		{Kind: fault.Dropped, Times: -1}, {Kind: fault.ServerError, Status: 200}, {Kind: fault.SlowSuccess, DelayMS: -1},
	}
	for _, f := range bad {
		if (fault.Set{Faults: []fault.Fault{f}}).Validate() == nil {
			t.Errorf("%+v must be refused", f)
		}
	}
	for _, k := range fault.Kinds() {
		if err := (fault.Set{Faults: []fault.Fault{{Kind: k, Name: "n", DelayMS: 1}}}).Validate(); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
}
