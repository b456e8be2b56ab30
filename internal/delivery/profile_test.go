package delivery_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// Holds docs/spec/07-tools.md, "get_contact": what the configuration names by its ids, and
// nothing else of the contact.
func TestReadContact(t *testing.T) {
	tests := []struct {
		name   string
		tags   []string
		fields map[string]any
		want   contact.Profile
	}{
		{"nothing", nil, nil, contact.Profile{}},
		{"tags of both lists", []string{"Member 2026", "Other", "Interested - Intro"}, nil, contact.Profile{Tags: []string{"keen", "member"}}},
		{"a tag of another case is another", []string{"interested - intro"}, nil, contact.Profile{}},
		{"listed values", nil, map[string]any{"Preferred Shift": "evening", "Home Town": "Lisbon"},
			contact.Profile{Fields: map[string]string{"shift": "evening", "city": "Lisbon"}}},
		{"values that are not listed", nil, map[string]any{"Preferred Shift": "Evening", "Home Town": "12 Rose Street", "Level No": 3.0},
			contact.Profile{Fields: map[string]string{"shift": "other", "city": "other", "level": "other"}}},
		{"numbers and booleans by their text", nil, map[string]any{"Level No": 2.0, "Gets News": false},
			contact.Profile{Fields: map[string]string{"level": "2", "newsletter": "false"}}},
		{"empty is not set", nil, map[string]any{"Preferred Shift": "", "Home Town": " ", "Agent Summary": " \n"}, contact.Profile{}},
		{"a note", nil, map[string]any{"Agent Summary": noteText, "ai_token": "secret"},
			contact.Profile{Notes: map[string]string{"summary": noteText}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				err := s.mc.EditContact(ada, func(c *manychattest.Contact) {
					c.Tags, c.Fields, c.Phone, c.Email, c.LastInput = tt.tags, tt.fields, "+15550000000", "ada@example.com", "hello"
				})
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.p.Read(s.t.Context(), key(ada), academy())
				if err != nil {
					t.Fatal(err)
				}
				tt.want.Tags = append([]string{}, tt.want.Tags...) // none is an empty list, for whoever writes it as JSON
				for _, m := range []*map[string]string{&tt.want.Fields, &tt.want.Notes} {
					if *m == nil {
						*m = map[string]string{}
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("profile (-want +got):\n%s", diff)
				}
				if calls := s.mc.Calls(); len(calls) != 1 || calls[0].Query != "subscriber_id="+ada {
					t.Errorf("calls: %+v", calls)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "get_contact": a failure, or the end of the time, is an error
// that says nothing of the contact.
func TestReadFails(t *testing.T) {
	tests := []struct {
		kind fault.Kind
		want string
		took time.Duration
	}{
		{fault.ServerError, "the contact could not be read: server error (500)", 0},
		{fault.FalseMissing, "the contact could not be read: rejected (400)", 0},
		{fault.RateLimited, "the contact could not be read: rate limited", 0},
		{fault.Dropped, "the contact could not be read: network", 0},
		{fault.Timeout, "the contact could not be read: timeout", 1500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			onStage(t, 1, func(s *stage) {
				s.faults(fault.Fault{Kind: tt.kind})
				ctx, cancel := context.WithTimeout(s.t.Context(), 1500*time.Millisecond)
				defer cancel()
				start := time.Now()
				got, err := s.p.Read(ctx, key(ada), academy())
				if err == nil || err.Error() != tt.want || time.Since(start) != tt.took {
					t.Errorf("%v after %v, want %q after %v", err, time.Since(start), tt.want, tt.took)
				}
				if text := fmt.Sprint(got); !strings.Contains(text, "map[]") || len(s.mc.Calls()) != 1 {
					t.Errorf("profile is %v after %d calls", text, len(s.mc.Calls()))
				}
				s.keepsQuiet()
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "The tools": without a tools.json nobody is read.
func TestReadWithoutTools(t *testing.T) {
	onStage(t, 1, func(s *stage) {
		if _, err := s.p.Read(s.t.Context(), key(ada), nil); err == nil || len(s.mc.Calls()) > 0 {
			t.Errorf("%v after %d calls", err, len(s.mc.Calls()))
		}
	})
}
