package sandbox

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// call is a call of the service to ManyChat, as the page shows it.
type call struct {
	manychattest.Call
	For string // what it was for, in the account's names; empty: it does not say
}

// Name is the call's path without what all paths begin with.
func (c call) Name() string { return strings.TrimPrefix(c.Path, "/fb/") }

// calls are the newest of a contact, newest first.
func (p *Page) calls(id string) (all []call) {
	flows := p.cfg.Account.Flows()
	for _, c := range slices.Backward(p.cfg.Account.Calls()) {
		if c.Contact == id && len(all) < shownCalls {
			all = append(all, call{c, p.purpose(c.Body, flows)})
		}
	}
	return all
}

// purpose says what a call's body names.
func (p *Page) purpose(body string, flows []manychattest.Flow) string {
	var named struct {
		Tag    string `json:"tag_name"`
		Flow   string `json:"flow_ns"`
		Field  string `json:"field_name"`
		Fields []struct {
			Field string `json:"field_name"`
		} `json:"fields"`
	}
	if json.Unmarshal([]byte(body), &named) != nil {
		return ""
	}
	switch {
	case named.Tag != "":
		return "the tag " + named.Tag
	case named.Flow == p.cfg.Account.replyFlow:
		return "the reply flow"
	case named.Flow != "":
		if i := slices.IndexFunc(flows, func(f manychattest.Flow) bool { return f.NS == named.Flow }); i >= 0 {
			return "the flow " + flows[i].Name
		}
		return "a flow that the account does not have"
	}
	fields := []string{}
	for _, f := range append(named.Fields, struct {
		Field string `json:"field_name"`
	}{named.Field}) {
		if f.Field != "" {
			fields = append(fields, "the field "+f.Field)
		}
	}
	return strings.Join(fields, ", ")
}
