package manychattest

import (
	"context"
	"fmt"
	"sync"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/mediafile"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Send is a contact writing. It shows the message in the chat, makes the request
// that the message triggers, waits for the answer as long as ManyChat would, and
// does what the answer says. Nothing is locked while it waits: the contact may
// write again meanwhile, and the answers then come in any order.
//
// A failed request is not an error but an [Exchange] with a Failure. Send returns
// an error for an unknown contact, an input that makes no sense, or a cancelled
// ctx.
func (s *Server) Send(ctx context.Context, subscriberID string, in Input) (Exchange, error) {
	if in.Kind == "" {
		in.Kind = phone.KindText
	}
	ex := Exchange{Contact: subscriberID, Started: s.cfg.Now()}
	req, err := s.receive(subscriberID, in, &ex)
	if err != nil {
		return ex, fmt.Errorf("contact %s writes: %w", subscriberID, err)
	}
	plan := s.faults.Inbound(subscriberID)
	switch {
	case plan.Fault.Kind == fault.LostInbound:
		ex.Trigger = phone.TriggerLost
		return ex, nil
	case req.flow != "":
		s.flows.Start(subscriberID, req.flow)
		return ex, nil
	case req.URL == "":
		return ex, nil
	}
	if plan.Fault.Kind == fault.DuplicateInbound {
		return s.exchangeTwice(ctx, req, ex)
	}
	return s.exchange(ctx, req, ex)
}

// exchangeTwice makes the same request twice at once; the contact sees both answers.
func (s *Server) exchangeTwice(ctx context.Context, req request, ex Exchange) (Exchange, error) {
	var second Exchange
	var wg sync.WaitGroup
	wg.Go(func() { second, _ = s.exchange(ctx, req, ex) }) // a cancelled ctx shows in the first
	first, err := s.exchange(ctx, req, ex)
	wg.Wait()
	first.Duplicate = &second
	return first, err
}

// receive takes in the message and decides what it triggers. The callback is
// disarmed here, so that it serves one message only.
func (s *Server) receive(id string, in Input, ex *Exchange) (req request, err error) {
	err = s.account.Update(func(st *account.State) error {
		c, err := st.Contact(id)
		if err != nil {
			return err
		}
		item, err := s.item(st, c, in)
		if err != nil {
			return err
		}
		var tapped phone.Button
		if in.Kind == phone.KindTap {
			if tapped, err = find(c.Chat, in.Text); err != nil {
				return err
			}
		}
		st.Show(c, item)
		c.LastInteraction = st.Now()
		c.LastInput = s.lastInput(c.LastInput, item)
		st.Touch(id)
		req = s.trigger(st, c, in.Kind, tapped)
		ex.Trigger, ex.Method, ex.URL, ex.Request = req.trigger, req.Method, req.URL, req.Body
		return nil
	})
	return req, err
}

// item is the bubble of the input; media get a URL and are kept under it.
func (s *Server) item(st *account.State, c *account.Contact, in Input) (ChatItem, error) {
	item := ChatItem{From: phone.FromContact, Kind: in.Kind, Text: in.Text}
	switch in.Kind {
	case phone.KindText, phone.KindReaction, phone.KindTap:
		if in.Text == "" {
			return item, fmt.Errorf("a %s needs a text", in.Kind)
		}
	case phone.KindSticker:
	case phone.KindVoice, phone.KindImage, phone.KindVideo:
		source := mediafile.Source{PageID: s.pageID, Channel: c.Channel, Contact: c.ID, At: st.Now(), N: st.LastItem}
		item.URL = mediafile.URL(source, in.Kind)
		if len(in.Data) > 0 {
			st.Media[mediafile.Name(item.URL)] = in.Data
		}
	default:
		return item, fmt.Errorf("a contact cannot send the kind %q", in.Kind)
	}
	return item, nil
}

// lastInput is what last_input_text holds after a message (platform notes, 4.6):
// captions are lost, stickers and reactions leave the text before them.
func (s *Server) lastInput(before string, item ChatItem) string {
	switch item.Kind {
	case phone.KindText, phone.KindTap:
		return item.Text
	case phone.KindVoice, phone.KindImage, phone.KindVideo:
		if !s.cfg.Settings.HideMedia {
			return item.URL
		}
	}
	return before
}

// trigger decides what takes the message: the armed callback (text only), the
// button that was tapped, or the entry flow.
func (s *Server) trigger(st *account.State, c *account.Contact, kind phone.Kind, tapped phone.Button) request {
	set := s.cfg.Settings
	takes := kind == phone.KindText || (kind == phone.KindTap && set.CallbackOnTap)
	if takes && set.callbacks(c.Channel) {
		if cb := st.TakeCallback(c); cb != nil {
			return s.callbackRequest(st, c, *cb, phone.TriggerCallback)
		}
	}
	if kind == phone.KindTap {
		return s.tap(st, c, tapped)
	}
	return s.entryRequest(st, c)
}

// tap does what a button or quick reply says. Of a node, which only the flow it is
// in knows, nothing happens.
func (s *Server) tap(st *account.State, c *account.Contact, b phone.Button) request {
	st.Perform(c, b.Actions)
	switch {
	case b.Callback != nil:
		return s.callbackRequest(st, c, *b.Callback, phone.TriggerButton)
	case b.Type == "flow":
		return request{contact: c.ID, trigger: phone.TriggerButton, flow: b.Target}
	}
	return request{contact: c.ID, trigger: phone.TriggerNone}
}

// find looks for the newest button with the caption.
func find(chat []ChatItem, caption string) (phone.Button, error) {
	for i := len(chat) - 1; i >= 0; i-- {
		item := chat[i]
		groups := [][]phone.Button{item.QuickReplies, item.Buttons}
		for _, card := range item.Cards {
			groups = append(groups, card.Buttons)
		}
		for _, group := range groups {
			for _, b := range group {
				if b.Caption == caption {
					return b, nil
				}
			}
		}
	}
	return phone.Button{}, fmt.Errorf("the chat shows no button %q", caption)
}
