package flow

import (
	"net/url"
	"path"
	"strings"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Medium is a file in a bubble.
type Medium struct {
	Kind   string // in words
	Sound  bool   // it is heard, not seen
	File   bool   // it is opened, and shows its first page at most
	Name   string
	Source string // where the name says it is, for a person to see; empty: the sandbox drew it
	Image  string // what to show of it; empty: there is nothing to show
}

// MediumOf reads what there is to see of a file out of its address. Only what the sandbox
// drew itself is loaded: the page asks nothing of another host.
func MediumOf(item manychattest.ChatItem) *Medium {
	m := &Medium{
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
func (m *Medium) Ending() string {
	ending := strings.TrimPrefix(path.Ext(m.Name), ".")
	if ending == "" || len(ending) > 4 {
		return "file"
	}
	return ending
}
