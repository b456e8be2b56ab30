package manychattest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/jsonpath"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/outbound"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/placeholder"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// entryFlow names the steps of the entry flow in chats and events.
const entryFlow = "entry"

// exchange makes one request and does what the answer says.
func (s *Server) exchange(ctx context.Context, req request, ex Exchange) (Exchange, error) {
	s.emit(Event{Type: phone.EventExchangeStarted, At: ex.Started, Contact: ex.Contact, Exchange: new(ex)})
	started := s.cfg.Now()
	limited, cancel := s.limited(ctx, s.cfg.Timeout)
	resp, err := s.client.Do(limited, req.Request)
	cancel()
	ex.Duration = s.cfg.Now().Sub(started)
	ex.Status, ex.Response = resp.Status, string(resp.Body)
	s.judge(req, resp, err, &ex)
	s.playEntry(req, &ex)
	s.emit(Event{Type: phone.EventExchangeFinished, At: s.cfg.Now(), Contact: ex.Contact, Exchange: new(ex)})
	if ctx.Err() != nil {
		return ex, fmt.Errorf("waiting for the answer: %w", ctx.Err())
	}
	return ex, nil
}

// judge decides whether the answer counts, and shows it if it does.
func (s *Server) judge(req request, resp outbound.Response, err error, ex *Exchange) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fail(ex, phone.FailureTimeout, fmt.Sprintf("no answer within %v", s.cfg.Timeout))
	case err != nil:
		fail(ex, phone.FailureNetwork, err.Error())
	case resp.Status < 200 || resp.Status > 299:
		fail(ex, phone.FailureStatus, fmt.Sprintf("the answer has status %d", resp.Status))
	case req.trigger == phone.TriggerEntry && s.cfg.Entry.Mode == ExternalRequest:
		s.mapResponse(req.contact, resp.Body, ex)
	default:
		s.render(req.contact, resp.Body, ex)
	}
}

func fail(ex *Exchange, f phone.Failure, reason string) { ex.Failure, ex.Reason = f, reason }

// render shows a Dynamic Block.
func (s *Server) render(contact string, body []byte, ex *Exchange) {
	err := s.account.Update(func(st *account.State) error {
		c, err := st.Contact(contact)
		if err != nil {
			return err
		}
		b, err := block.Read(body, s.rules(st, c, c.Channel, true))
		if err != nil {
			return err
		}
		ex.Warnings = b.Warnings
		ex.Shown = st.Deliver(c, account.Reply{Via: phone.ViaInline, Messages: b.Messages, Actions: b.Actions, Callback: b.Callback})
		return nil
	})
	if rejection, rejected := errors.AsType[*block.Rejection](err); rejected {
		fail(ex, phone.FailureRejected, rejection.Error())
	} else if err != nil {
		fail(ex, phone.FailureNotJSON, err.Error())
	}
}

// mapResponse copies values of the answer to custom fields. What does not match
// maps nothing and leaves the field as it was, old reply included (4.1).
func (s *Server) mapResponse(contact string, body []byte, ex *Exchange) {
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		fail(ex, phone.FailureNotJSON, err.Error())
		return
	}
	err := s.account.Update(func(st *account.State) error {
		c, err := st.Contact(contact)
		if err != nil {
			return err
		}
		for _, path := range slices.Sorted(maps.Keys(s.cfg.Entry.Mapping)) {
			name, v, err := mapped(st, doc, path, s.cfg.Entry.Mapping[path])
			if err != nil {
				ex.Warnings = append(ex.Warnings, err.Error())
				continue
			}
			st.SetValue(c, name, v)
		}
		return nil
	})
	if err != nil {
		fail(ex, phone.FailureRejected, err.Error())
	}
}

// mapped is the value at path, converted to the type of the custom field.
func mapped(st *account.State, doc any, path, field string) (name string, value any, err error) {
	p, err := jsonpath.Parse(path)
	if err != nil {
		return "", nil, err
	}
	found, ok := p.Get(doc)
	text := placeholder.Format(found)
	if !ok || text == "" {
		return "", nil, fmt.Errorf("%s is missing or empty in the answer: the field %q keeps its old value", path, field)
	}
	f, ok := st.Field(field)
	if !ok {
		return "", nil, fmt.Errorf("the custom field %q does not exist", field)
	}
	value, err = account.ConvertValue(f.Type, text)
	if err != nil {
		return "", nil, fmt.Errorf("%s does not fit the custom field %q: %w", path, field, err)
	}
	return f.Name, value, nil
}

// playEntry goes on with the entry flow behind the request. A callback has no
// fallback.
func (s *Server) playEntry(req request, ex *Exchange) {
	e := s.cfg.Entry
	var steps []Step
	switch {
	case req.trigger != phone.TriggerEntry:
	case e.Mode == ExternalRequest:
		steps = e.After
	case ex.Failure != "":
		steps = e.Fallback
		ex.FellBack = len(steps) > 0
	}
	if len(steps) > 0 {
		s.player.Play(req.contact, Flow{NS: entryFlow, Steps: steps})
	}
}
