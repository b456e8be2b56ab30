package block_test

import (
	"encoding/json"
	"testing"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
)

// Holds docs/spec/17-quality.md, "Reliability": every decoder is fuzzed. No input breaks the
// reader, what is no JSON is never a block, and a block keeps its limits.
func FuzzRead(f *testing.F) {
	for _, ch := range manychat.Channels() {
		f.Add(envelope(ch, textWith(`,"buttons":[{"type":"flow","caption":"Go","target":"content1","actions":[]}]`)))
		f.Add(envelope(ch, messages()+`,"external_message_callback":{"url":"https://example.test","method":"post","payload":{"a":"{{b}}"},"timeout":1e300}`))
		f.Add(envelope(ch, messages(`{"type":"cards","elements":[{"title":"T","buttons":[{"type":"buy","caption":"B"}]}]}`)))
		f.Add(envelope(ch, messages()+`,"actions":[{"action":"set_field_value","field_name":"number","value":null}],"quick_replies":[{}]`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, ch := range manychat.Channels() {
			r := rules(ch)
			r.Deliver = 2
			b, err := block.Read(data, r)
			switch {
			case err != nil && len(b.Messages)+len(b.Actions) > 0:
				t.Errorf("refused, but something is left: %+v", b)
			case err == nil && !json.Valid(data):
				t.Errorf("no JSON, but taken")
			case len(b.Messages) > 2 || len(b.Actions) > 5:
				t.Errorf("over the limits: %+v", b)
			case b.Callback != nil && (b.Callback.Timeout <= 0 || b.Callback.Timeout.Seconds() > 86400):
				t.Errorf("timeout %v", b.Callback.Timeout)
			}
		}
	})
}
