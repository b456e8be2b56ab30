package block

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// buttonChannels is the table of the platform notes, 1.4. A URL button on WhatsApp
// is ambiguous there and accepted here; what is "not listed" is refused.
var buttonChannels = map[string][]manychat.Channel{
	"url":                    {manychat.Messenger, manychat.Instagram, manychat.WhatsApp, manychat.Telegram},
	"flow":                   {manychat.Messenger, manychat.Instagram, manychat.WhatsApp, manychat.Telegram},
	"node":                   {manychat.Messenger, manychat.Instagram, manychat.Telegram},
	"call":                   {manychat.Messenger},
	"buy":                    {manychat.Messenger, manychat.Instagram, manychat.Telegram},
	"dynamic_block_callback": {manychat.Messenger},
}

func (r *reader) buttons(o object) []phone.Button {
	limit := 3
	if caps, ok := manychat.CapabilitiesOf(r.rules.Channel); ok {
		limit = caps.ButtonsPerText
	}
	var buttons []phone.Button
	for _, b := range o.list("buttons", "Too many buttons", limit) {
		b.place = "a button"
		buttons = append(buttons, r.button(b))
	}
	return buttons
}

func (r *reader) button(o object) phone.Button {
	b := phone.Button{Type: o.text("type"), Caption: o.text("caption")}
	if r.supported(b.Type, o.place) {
		r.target(o, &b)
	}
	return b
}

func (r *reader) supported(kind, place string) bool {
	channels, known := buttonChannels[kind]
	switch {
	case !known:
		r.refuse("unknown type %q of %s", kind, place)
	case !slices.Contains(channels, r.rules.Channel):
		r.refuse("type %q of %s is not supported on %s", kind, place, r.rules.Channel)
	case kind == "node" && !r.rules.Inline:
		r.refuse("type %q of %s is not available through the public API", kind, place)
	default:
		return true
	}
	return false
}

// target reads the keys that depend on the type.
func (r *reader) target(o object, b *phone.Button) {
	switch b.Type {
	case "url":
		o.only("type", "caption", "url", "webview_size", "actions")
		b.URL = o.text("url")
		r.webview(o)
		b.Actions = r.actions(o, maxActions)
	case "flow", "node":
		o.only("type", "caption", "target", "actions")
		b.Target = o.text("target")
		if b.Type == "flow" && !r.rules.Account.HasFlow(b.Target) {
			r.warn("%s leads to the flow %q, which the account does not have", o.place, b.Target)
		}
		b.Actions = r.actions(o, maxActions)
	case "call":
		o.only("type", "caption", "phone")
		b.Phone = o.text("phone")
	case "buy":
		r.buy(o)
	case "dynamic_block_callback":
		o.only("type", "caption", "url", "method", "headers", "payload")
		b.Callback = r.request(o)
	}
}

func (r *reader) webview(o object) {
	switch size := o.optionalText("webview_size"); {
	case size == "":
	case size != "full" && size != "medium" && size != "compact":
		r.refuse("webview_size must be full, medium or compact, not %q", size)
	case r.rules.Channel != manychat.Messenger:
		r.warn("webview_size works on Messenger only")
	}
}

func (r *reader) buy(o object) {
	o.only("type", "caption", "customer", "product", "success_target")
	customer := o.child("customer")
	for _, key := range []string{"shipping_address", "contact_name", "contact_phone"} {
		if !customer.has(key) {
			r.refuse("%s of customer is required", key)
		}
	}
	product := o.child("product")
	product.text("label")
	if !product.has("cost") {
		r.refuse("cost of product is required")
	}
	product.optionalNumber("cost", 0)
	o.optionalText("success_target")
}

// quickReplies hangs the quick replies under the last message.
func (r *reader) quickReplies(c object, messages []phone.Item) {
	if caps, ok := manychat.CapabilitiesOf(r.rules.Channel); ok && caps.QuickReplies == 0 {
		if c.has("quick_replies") {
			r.warn("quick replies are not supported on %s: the contact does not see them", r.rules.Channel)
		}
		return
	}
	var replies []phone.Button
	for _, o := range c.list("quick_replies", "Too many quick replies", maxQuickReplies) {
		o.place = "a quick reply"
		b := phone.Button{Type: o.text("type"), Caption: o.text("caption")}
		switch b.Type {
		case "node", "flow", "dynamic_block_callback":
			if r.supported(b.Type, o.place) {
				r.target(o, &b)
			}
		default:
			r.refuse("unknown type %q of a quick reply", b.Type)
		}
		replies = append(replies, b)
	}
	switch {
	case len(replies) == 0 || !r.captionsFit(replies):
	case len(messages) == 0:
		r.warn("quick replies without a message are not shown")
	default:
		messages[len(messages)-1].QuickReplies = replies
	}
}

// captionsFit warns of captions over the builder's limit. On Messenger such a
// message was reported not to be rendered at all.
func (r *reader) captionsFit(buttons []phone.Button) bool {
	fit := true
	for _, b := range buttons {
		if units(b.Caption) > maxCaption {
			r.warn("the caption %q is over %d characters", b.Caption, maxCaption)
			fit = r.rules.Channel != manychat.Messenger
		}
	}
	return fit
}
