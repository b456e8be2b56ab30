package sandbox

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// bubble is a message as the phone shows it.
type bubble struct {
	manychattest.ChatItem
	How   string       // how it came to the phone; empty: the contact wrote it
	Media *flow.Medium // nil: it carries none
}

// bubbles are a contact's messages.
func (p *Page) bubbles(id string) []bubble {
	items, flows := p.cfg.Account.Chat(id), p.cfg.Account.Flows()
	all := make([]bubble, len(items))
	for i, item := range items {
		all[i] = bubble{ChatItem: item, How: p.how(item, flows)}
		if item.URL != "" {
			all[i].Media = flow.MediumOf(item)
		}
	}
	return all
}

// how says in words how a message came to the phone. A flow is named by what the
// account calls it.
func (p *Page) how(item manychattest.ChatItem, flows []manychattest.Flow) string {
	switch item.Via {
	case phone.ViaInline:
		return "in the response"
	case phone.ViaContent:
		return "by sendContent"
	case phone.ViaFlow:
		if item.Flow == p.cfg.Account.replyFlow {
			return "by the reply flow"
		}
		if i := slices.IndexFunc(flows, func(f manychattest.Flow) bool { return f.NS == item.Flow }); i >= 0 {
			return "by the flow " + flows[i].Name
		}
		return "by a flow that is gone"
	}
	return ""
}
