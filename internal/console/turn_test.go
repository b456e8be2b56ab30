package console_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// one is a contact's only turn.
type one struct{ turn conversation.Turn }

func (o one) RecentTurns(context.Context, contact.SubscriberID, int) ([]console.Recorded, error) {
	return []console.Recorded{{Turn: o.turn}}, nil
}

// acts are what the answer says of a turn's actions and calls, as it is written.
type acts struct {
	Actions, Calls json.RawMessage
}

func actsOf(t *testing.T, turn conversation.Turn) (acts, string) {
	t.Helper()
	h, err := console.New(console.Config{Turns: one{turn}, Key: key, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	h.Register(mux)
	r := httptest.NewRequest(http.MethodGet, console.TurnsPath+"?subscriber=900000001", nil)
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	body := w.Body.String()
	var list struct{ Turns []acts }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Turns) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	return list.Turns[0], body
}

// Holds docs/spec/14-console.md, "Console": what the model called and what the agent did are
// told as they were recorded, in their order.
func TestCallsAndActions(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	tests := []struct {
		name    string
		turn    conversation.Turn
		actions string
		calls   string
	}{
		{"no tool was offered", conversation.Turn{}, `null`, `null`},
		{"none was chosen", conversation.Turn{Actions: []action.Record{}, Calls: []action.Call{}}, `[]`, `[]`},
		{"everything", conversation.Turn{
			Actions: []action.Record{
				{Tool: action.SendFlow, ID: "syllabus", Status: action.Performed, ContactAsked: true, At: at},
				{Tool: action.WriteNote, ID: "summary", Length: 12, Status: action.Failed, Error: action.OutcomeUnknown},
				{Tool: action.SendFlow, ID: "welcome", Status: action.Sending, Origin: action.FromOpening},
			},
			Calls: []action.Call{
				{Step: 1, Tool: action.SendFlow, ID: "syllabus", ContactAsked: true, Answer: action.AnsweredSent},
				{Step: 1, Tool: action.WriteNote, ID: "summary", Length: 12, Answer: action.AnsweredStaged},
				{Step: 2, Answer: action.AnsweredBad, Reason: "there is no such tool"},
			},
		},
			`[{"tool":"send_flow","id":"syllabus","status":"performed","contactAsked":true,"at":"2026-03-04T05:06:07Z"},` +
				`{"tool":"write_note","id":"summary","length":12,"status":"failed","error":"outcome unknown"},` +
				`{"tool":"send_flow","id":"welcome","status":"sending","origin":"opening"}]`,
			`[{"step":1,"tool":"send_flow","id":"syllabus","contactAsked":true,"answer":"sent"},` +
				`{"step":1,"tool":"write_note","id":"summary","length":12,"answer":"staged"},` +
				`{"step":2,"tool":"","answer":"bad call","reason":"there is no such tool"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, body := actsOf(t, tt.turn)
			if diff := cmp.Diff([]string{tt.actions, tt.calls}, []string{string(got.Actions), string(got.Calls)}); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, body)
			}
		})
	}
}
