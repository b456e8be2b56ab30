package tool

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Specs is what a model is told of a tenant's tools on the first turn of a contact who may be
// read.
func Specs(t *tenant.Tools) (specs []llm.Tool) {
	for _, offered := range NewDesk(Turn{Tools: t, Contact: nobody{}, Nudges: true}).Tools() {
		if offered.Offered() {
			specs = append(specs, offered.Spec())
		}
	}
	return specs
}

// nobody is a contact who is never read.
type nobody struct{}

func (nobody) Read(context.Context) (contact.Profile, error) { return contact.Profile{}, nil }
