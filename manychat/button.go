package manychat

// ButtonType is the value of a button's or a quick reply's type key.
type ButtonType string

// The button types of Dynamic Block v2. Quick replies know flow, node and, on
// Messenger, dynamic_block_callback.
const (
	URLType      ButtonType = "url"
	FlowType     ButtonType = "flow"
	NodeType     ButtonType = "node"
	CallType     ButtonType = "call"
	BuyType      ButtonType = "buy"
	CallbackType ButtonType = "dynamic_block_callback"
)

// The values of [Button].WebviewSize, which is for url buttons on Messenger.
const (
	WebviewFull    = "full"
	WebviewMedium  = "medium"
	WebviewCompact = "compact"
)

// Button stands under a message or a card. Its Type says which of the other fields
// ManyChat reads:
//
//   - url: URL, WebviewSize, Actions
//   - flow: Target (a flow namespace), Actions
//   - node: Target (the name of a node in the running flow), Actions
//   - call: Phone
//   - buy: Customer, Product, SuccessTarget
//   - dynamic_block_callback: URL, Method, Headers, Payload
type Button struct {
	Type          ButtonType        `json:"type"`
	Caption       string            `json:"caption"`
	URL           string            `json:"url,omitempty"`
	WebviewSize   string            `json:"webview_size,omitempty"`
	Target        string            `json:"target,omitempty"`
	Phone         string            `json:"phone,omitempty"`
	Customer      *Customer         `json:"customer,omitempty"`
	Product       *Product          `json:"product,omitempty"`
	SuccessTarget string            `json:"success_target,omitempty"` // the name of a node
	Method        string            `json:"method,omitempty"`         // get, post, put or delete
	Headers       map[string]string `json:"headers,omitempty"`
	Payload       map[string]string `json:"payload,omitempty"`
	Actions       []Action          `json:"actions,omitempty"`
}

// Customer says what a buy button asks the buyer for.
type Customer struct {
	ShippingAddress bool `json:"shipping_address"`
	ContactName     bool `json:"contact_name"`
	ContactPhone    bool `json:"contact_phone"`
	ContactEmail    bool `json:"contact_email,omitempty"`
}

// Product is what a buy button sells.
type Product struct {
	Label string `json:"label"`
	Cost  int    `json:"cost"` // in cents of the account's currency
}

// QuickReply is a choice offered under the last message. Where a channel does not
// support them ([Capabilities].QuickReplies is 0) the key must be absent: WhatsApp
// then shows the contact nothing at all.
type QuickReply struct {
	Type    ButtonType        `json:"type"`
	Caption string            `json:"caption"`
	Target  string            `json:"target,omitempty"` // flow: its namespace; node: its name
	URL     string            `json:"url,omitempty"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Payload map[string]string `json:"payload,omitempty"`
}

// URLButton returns a button that opens a page.
func URLButton(caption, url string) Button {
	return Button{Type: URLType, Caption: caption, URL: url}
}

// FlowButton returns a button that starts a flow, named by its namespace.
func FlowButton(caption, flowNS string) Button {
	return Button{Type: FlowType, Caption: caption, Target: flowNS}
}

// FlowQuickReply returns a quick reply that starts a flow.
func FlowQuickReply(caption, flowNS string) QuickReply {
	return QuickReply{Type: FlowType, Caption: caption, Target: flowNS}
}
