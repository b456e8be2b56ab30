package delivery

import (
	"context"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// call is the request of an action that is no flow, or nil and why there is none: what an
// id stands for is looked up when the action is performed, since the tenant's files may have
// changed since it was staged.
func (p *Performer) call(subscriber string, tools *tenant.Tools, a action.Pending) (call func(context.Context) error, why string) {
	switch a.Tool {
	case action.AddTag, action.RemoveTag:
		if t, ok := tools.Tag(a.ID); ok {
			return p.tag(subscriber, t.Tag, a.Tool == action.AddTag), ""
		}
	case action.SetField:
		if f, ok := tools.Field(a.ID); ok && slices.Contains(f.Values, a.Value) {
			return p.write(subscriber, f.Field, a.Value), ""
		}
	case action.WriteNote:
		if n, ok := tools.Note(a.ID); ok {
			return p.write(subscriber, n.Field, a.Text), ""
		}
	default:
		return nil, Unavailable
	}
	return nil, Unconfigured
}

// tag is a request that adds or removes a tag.
func (p *Performer) tag(subscriber, tag string, add bool) func(context.Context) error {
	return func(ctx context.Context) error {
		if add {
			return p.cfg.Behind.AddTagByName(ctx, subscriber, tag)
		}
		return p.cfg.Behind.RemoveTagByName(ctx, subscriber, tag)
	}
}

// write is a request that writes a text to a custom field.
func (p *Performer) write(subscriber, field, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		return p.cfg.Behind.SetCustomFieldByName(ctx, subscriber, field, text)
	}
}
