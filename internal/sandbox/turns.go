package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Turns reads what a service recorded, over its console API.
type Turns struct {
	Service string // base URL
	Path    string // of the list of turns
	Key     string // CONSOLE_API_KEY; empty: nothing is shown
	Client  *http.Client
}

// Turn is a recorded turn, as much of it as the page shows.
type Turn struct {
	ID            string    `json:"id"`
	State         string    `json:"state"`
	Attempt       int       `json:"attempt"`
	Text          string    `json:"text"`
	MergedInto    string    `json:"mergedInto"` // the turn that answers it; empty: this one does, or none
	Replies       []string  `json:"replies"`
	Outcome       string    `json:"outcome"`
	Path          string    `json:"path"`
	Reason        string    `json:"escalationReason"`
	Model         string    `json:"model"`
	PromptVersion string    `json:"promptVersion"`
	Confidence    *float64  `json:"confidence"`
	Interventions []string  `json:"interventions"`
	Deliveries    []string  `json:"deliveries"`
	Calls         []Call    `json:"calls"`
	Actions       []Action  `json:"actions"` // nil: no tool was offered
	ReceivedAt    time.Time `json:"receivedAt"`
	SettledAt     time.Time `json:"settledAt"` // zero: it is not yet
	Micros        struct {
		Record int64   `json:"record"`
		Wait   int64   `json:"wait"`
		Steps  []int64 `json:"steps"`
		Hold   int64   `json:"hold"`
		Total  int64   `json:"total"`
	} `json:"micros"`
	Spend struct {
		TokensIn  int64 `json:"tokensIn"`
		TokensOut int64 `json:"tokensOut"`
	} `json:"spend"`
}

// Call is one call that the model made of a tool, and what it was told.
type Call struct {
	Step         int    `json:"step"` // of the model, from 1
	Tool         string `json:"tool"` // empty: there is no such tool
	ID           string `json:"id"`
	Value        string `json:"value"`
	Length       int    `json:"length"` // of a note
	ContactAsked bool   `json:"contactAsked"`
	Answer       string `json:"answer"`
	Reason       string `json:"reason"`
}

// Action is something that the agent did besides replying, and what became of it.
type Action struct {
	Tool         string    `json:"tool"`
	ID           string    `json:"id"`
	Value        string    `json:"value"`
	Length       int       `json:"length"` // of a note
	Status       string    `json:"status"`
	Error        string    `json:"error"`
	Origin       string    `json:"origin"` // the rule that sent it, where no model asked for it
	ContactAsked bool      `json:"contactAsked"`
	At           time.Time `json:"at"` // when ManyChat answered; zero: it did not, or was not asked
}

// readWithin bounds one read of the console: the page shows the rest without it.
const readWithin = 3 * time.Second

// Recent reads a contact's newest turns. Without a key there are none.
func (t Turns) Recent(ctx context.Context, id string, limit int) ([]Turn, error) {
	if t.Key == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	query := url.Values{"subscriber": {id}, "limit": {strconv.Itoa(limit)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Service+t.Path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("read recorded turns: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+t.Key)
	resp, err := t.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read recorded turns: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read recorded turns: the service answered %s", resp.Status)
	}
	var list struct {
		Turns []Turn `json:"turns"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("read recorded turns: %w", err)
	}
	return list.Turns, nil
}
