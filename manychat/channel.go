package manychat

// Channel is one of the messaging channels that ManyChat connects. Its value is
// the one that content.type carries on the wire.
type Channel string

// The channels of the Dynamic Block documents. ManyChat leaves content.type out
// for Messenger; see [Channel.ContentType].
const (
	WhatsApp  Channel = "whatsapp"
	Instagram Channel = "instagram"
	Messenger Channel = "messenger"
	Telegram  Channel = "telegram"
)

// ContentType is the value of content.type for the channel; it is empty for
// Messenger, where ManyChat wants the key left out.
func (c Channel) ContentType() string {
	if c == Messenger {
		return ""
	}
	return string(c)
}

// Capabilities say what one channel can show. They are data: nothing in this
// module branches on a channel's name. A thing that ManyChat does not document for a
// channel counts as unsupported, since one bad part loses the whole response.
type Capabilities struct {
	QuickReplies   int // most quick replies of a response; 0: the key must be absent
	ButtonsPerText int // most buttons under one text, card or other message
	Messages       int // most messages on the wire
	Delivered      int // most messages that have been seen to arrive; the rest must be joined
	Actions        int // most actions of a response, and of one button
	TextUnits      int // longest text, in UTF-16 code units (the strictest count)
	CaptionUnits   int // longest caption of a button or quick reply, in UTF-16 code units

	Bold             bool // *bold* is rendered
	Images           bool // image messages are documented
	Media            bool // video, audio and file messages are documented
	MediaButtons     bool // buttons under image, video and audio are documented
	Cards            bool // card galleries are documented
	NodeButtons      bool // node buttons are documented
	CallButtons      bool // call buttons are documented
	BuyButtons       bool // buy buttons are documented
	CallbackButtons  bool // dynamic_block_callback buttons and quick replies are documented
	WebviewSizes     bool // webview_size of a url button is documented
	CallbackVerified bool // external_message_callback is documented for the channel
}

var capabilities = map[Channel]Capabilities{
	WhatsApp: {
		QuickReplies: 0, ButtonsPerText: 3, Messages: 10, Delivered: 1,
		Actions: 5, TextUnits: 2000, CaptionUnits: 20,
		Bold: true,
	},
	Instagram: {
		QuickReplies: 11, ButtonsPerText: 3, Messages: 10, Delivered: 10,
		Actions: 5, TextUnits: 1000, CaptionUnits: 20,
		Images: true, Cards: true, NodeButtons: true, BuyButtons: true,
	},
	Messenger: {
		QuickReplies: 11, ButtonsPerText: 3, Messages: 10, Delivered: 10,
		Actions: 5, TextUnits: 2000, CaptionUnits: 20,
		Images: true, Media: true, MediaButtons: true, Cards: true,
		NodeButtons: true, CallButtons: true, BuyButtons: true, CallbackButtons: true,
		WebviewSizes: true, CallbackVerified: true,
	},
	Telegram: {
		QuickReplies: 0, ButtonsPerText: 10, Messages: 10, Delivered: 10,
		Actions: 5, TextUnits: 2000, CaptionUnits: 20,
		Images: true, Media: true, NodeButtons: true, BuyButtons: true,
	},
}

// Channels lists the known channels, WhatsApp first.
func Channels() []Channel { return []Channel{WhatsApp, Instagram, Messenger, Telegram} }

// CapabilitiesOf returns the capability row of a channel; ok is false for a name
// that is none of [Channels].
func CapabilitiesOf(c Channel) (caps Capabilities, ok bool) {
	caps, ok = capabilities[c]
	return caps, ok
}

// Shows reports whether ManyChat documents messages of type t for the channel.
func (k Capabilities) Shows(t MessageType) bool {
	switch t {
	case TextMessage:
		return true
	case ImageMessage:
		return k.Images
	case VideoMessage, AudioMessage, FileMessage:
		return k.Media
	case CardsMessage:
		return k.Cards
	}
	return false
}

// Offers reports whether ManyChat documents buttons of type t for the channel.
func (k Capabilities) Offers(t ButtonType) bool {
	switch t {
	case URLType, FlowType:
		return true
	case NodeType:
		return k.NodeButtons
	case CallType:
		return k.CallButtons
	case BuyType:
		return k.BuyButtons
	case CallbackType:
		return k.CallbackButtons
	}
	return false
}
