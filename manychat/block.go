package manychat

// Version is the only Dynamic Block version that ManyChat reads.
const Version = "v2"

// MaxTimeout is the longest time, in seconds, that ManyChat keeps a [Callback]
// armed; it is also what ManyChat takes when the timeout is left out.
const MaxTimeout = 86400

// Response is a Dynamic Block v2: what a server answers to a Dynamic Block or an
// external message callback. Build it with plain literals or with [NewResponse] and
// check it with [Response.Validate] before writing it: ManyChat is all or nothing,
// one bad part loses the whole response.
type Response struct {
	Version string  `json:"version"`
	Content Content `json:"content"`
}

// Content is the body of a [Response]. Messages is always written, as an empty
// array for a silent response; every other key is left out when it is empty.
type Content struct {
	Type         Channel      `json:"type,omitempty"` // see [Channel.ContentType]
	Messages     []Message    `json:"messages"`
	Actions      []Action     `json:"actions,omitempty"`
	QuickReplies []QuickReply `json:"quick_replies,omitempty"`
	Callback     *Callback    `json:"external_message_callback,omitempty"`
}

// Callback registers the URL that ManyChat calls with the contact's next message.
// It is one-shot: a server that wants the message after that registers it again.
// ManyChat documents it for Messenger only; see [Capabilities].CallbackVerified.
type Callback struct {
	URL     string            `json:"url"`    // https
	Method  string            `json:"method"` // get, post, put or delete
	Headers map[string]string `json:"headers,omitempty"`
	Payload map[string]string `json:"payload,omitempty"` // values may be ManyChat variables
	Timeout int               `json:"timeout,omitempty"` // seconds, 1 to [MaxTimeout]; 0 leaves the key out
}

// NewResponse returns a response of the given messages with the version and the
// content type that the channel wants. Without messages it is silent: the contact
// sees nothing, and the array is written empty rather than as null.
func NewResponse(c Channel, messages ...Message) Response {
	if messages == nil {
		messages = []Message{}
	}
	return Response{
		Version: Version,
		Content: Content{Type: Channel(c.ContentType()), Messages: messages},
	}
}
