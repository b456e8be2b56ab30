package manychattest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/outbound"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/placeholder"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// request is what a contact's message set off, with every variable filled in.
type request struct {
	contact          string
	trigger          phone.Trigger
	flow             string // namespace to start instead of a request
	outbound.Request        // without a URL no request is made
}

func (s *Server) entryRequest(st *account.State, c *account.Contact) request {
	e := s.cfg.Entry
	if e.URL == "" {
		return request{contact: c.ID, trigger: phone.TriggerNone}
	}
	vars := st.Variables(c, !s.cfg.Settings.PickerOnly)
	return request{contact: c.ID, trigger: phone.TriggerEntry, Request: outbound.Request{
		Method: e.Method, URL: placeholder.Raw(e.URL, vars), Header: headers(e.Header, vars), Body: s.entryBody(st, c, vars),
	}}
}

func (s *Server) entryBody(st *account.State, c *account.Contact, vars placeholder.Lookup) string {
	e := s.cfg.Entry
	switch {
	case e.Method == http.MethodGet || e.Method == http.MethodDelete:
		return ""
	case e.FullContactData:
		data, err := json.Marshal(st.FullContactData(c, s.pageID))
		if err != nil {
			return "" // unreachable: it holds only JSON values
		}
		return string(data)
	case e.EncodeJSON:
		return placeholder.Encoded(e.Body, vars)
	}
	return placeholder.Raw(e.Body, vars)
}

// callbackRequest fills the payload. Whether ManyChat escapes what it fills in
// there is not known; RawCallbackPayload says that it does not.
func (s *Server) callbackRequest(st *account.State, c *account.Contact, cb phone.Callback, t phone.Trigger) request {
	vars := st.Variables(c, !s.cfg.Settings.PickerOnly)
	r := request{contact: c.ID, trigger: t, Request: outbound.Request{
		Method: cb.Method, URL: cb.URL, Header: headers(cb.Headers, vars),
	}}
	switch {
	case cb.Method == http.MethodGet || cb.Method == http.MethodDelete:
	case s.cfg.Settings.RawCallbackPayload:
		r.Body = placeholder.Raw(string(cb.Payload), vars)
	default:
		r.Body = placeholder.Strings(cb.Payload, vars)
	}
	return r
}

func headers(static map[string]string, vars placeholder.Lookup) map[string]string {
	h := maps.Clone(static)
	for name, value := range h {
		h[name] = placeholder.Raw(value, vars)
	}
	return h
}

// limited is ctx, ended by the timeout or by Close as well.
func (s *Server) limited(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
