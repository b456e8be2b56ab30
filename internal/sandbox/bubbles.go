package sandbox

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// bubble is a message as the phone shows it.
type bubble struct {
	manychattest.ChatItem
	How   string  // how it came to the phone; empty: the contact wrote it
	Media *medium // nil: it carries none
}

// medium is a file in a bubble.
type medium struct {
	Kind   string // in words
	Sound  bool   // it is heard, not seen
	File   bool   // it is opened, and shows its first page at most
	Name   string
	Source string // where the name says it is, for a person to see; empty: the sandbox drew it
	Image  string // what to show of it; empty: there is nothing to show
}

// bubbles are a contact's messages.
func (p *Page) bubbles(id string) []bubble {
	items, flows := p.cfg.Account.Chat(id), p.cfg.Account.Flows()
	all := make([]bubble, len(items))
	for i, item := range items {
		all[i] = bubble{ChatItem: item, How: p.how(item, flows)}
		if item.URL != "" {
			all[i].Media = mediumOf(item)
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

// mediumOf reads what there is to see of a file out of its address. Only what the sandbox
// drew itself is loaded: the page asks nothing of another host.
func mediumOf(item manychattest.ChatItem) *medium {
	m := &medium{
		Kind:  strings.ReplaceAll(string(item.Kind), "_", " "),
		Sound: item.Kind == phone.KindAudio || item.Kind == phone.KindVoice,
		File:  item.Kind == phone.KindFile,
		Name:  item.URL,
	}
	u, err := url.Parse(item.URL)
	if err != nil {
		return m
	}
	m.Source = u.Host
	if name := path.Base(u.Path); name != "." && name != "/" {
		m.Name = name
	}
	if strings.HasPrefix(item.URL, MediaPath+"/") {
		m.Image, m.Name = item.URL, u.Query().Get("title")
	}
	return m
}

// Ending is what a file's name ends in, as a phone shows it on the file's icon.
func (m *medium) Ending() string {
	ending := strings.TrimPrefix(path.Ext(m.Name), ".")
	if ending == "" || len(ending) > 4 {
		return "file"
	}
	return ending
}
