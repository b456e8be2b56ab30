package manychat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// A reply on WhatsApp that asks ManyChat to send the contact's next message here.
func ExampleResponse_Validate() {
	r := manychat.NewResponse(manychat.WhatsApp, manychat.Text("We open at nine."))
	r.Content.Callback = &manychat.Callback{
		URL:     "https://agent.example.com/message",
		Method:  "post",
		Payload: map[string]string{"text": "{{last_input_text}}"},
		Timeout: manychat.MaxTimeout,
	}
	if err := r.Validate(manychat.WhatsApp); err != nil {
		fmt.Println(err)
		return
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	_ = enc.Encode(r)

	// The same response with choices: WhatsApp would show nothing at all.
	r.Content.QuickReplies = []manychat.QuickReply{manychat.FlowQuickReply("Prices", "content20260101000000_123456")}
	fmt.Println(r.Validate(manychat.WhatsApp))
	// Output:
	// {
	//   "version": "v2",
	//   "content": {
	//     "type": "whatsapp",
	//     "messages": [
	//       {
	//         "type": "text",
	//         "text": "We open at nine."
	//       }
	//     ],
	//     "external_message_callback": {
	//       "url": "https://agent.example.com/message",
	//       "method": "post",
	//       "payload": {
	//         "text": "{{last_input_text}}"
	//       },
	//       "timeout": 86400
	//     }
	//   }
	// }
	// manychat: response is invalid for whatsapp: content.quick_replies: must be left out on this channel
}

// A silent response: the contact sees nothing.
func ExampleNewResponse_silent() {
	b, _ := json.Marshal(manychat.NewResponse(manychat.WhatsApp))
	fmt.Println(string(b))
	// Output: {"version":"v2","content":{"type":"whatsapp","messages":[]}}
}

// Sending a text outside an answer takes two calls: write it to a custom field of the
// contact, then start a flow that sends the field.
func ExampleClient() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Method, r.URL.Path, string(body))
		fmt.Fprint(w, `{"status":"success"}`)
	}))
	defer server.Close()

	client, err := manychat.NewClient(manychat.ClientConfig{
		BaseURL: server.URL, // left out, the client calls ManyChat
		Token:   "100000000000001:invented",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := client.SetCustomFieldByName(ctx, "900000001", "ai_message", "We open at nine."); err != nil {
		fmt.Println(err)
		return
	}
	if err := client.SendFlow(ctx, "900000001", "content20260101000000_123456"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// POST /fb/subscriber/setCustomFieldByName {"subscriber_id":"900000001","field_name":"ai_message","field_value":"We open at nine."}
	// POST /fb/sending/sendFlow {"subscriber_id":"900000001","flow_ns":"content20260101000000_123456"}
}

// What nobody waits for has a class of its own, in which it holds up no reply.
func ExampleClient_For() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		fmt.Fprint(w, `{"status":"success"}`)
	}))
	defer server.Close()
	client, err := manychat.NewClient(manychat.ClientConfig{BaseURL: server.URL, Token: "100000000000001:invented"})
	if err != nil {
		fmt.Println(err)
		return
	}

	quiet := client.For(manychat.Actions) // shares the rate limits of client
	if err := quiet.AddTagByName(context.Background(), "900000001", "lead"); err != nil {
		fmt.Println(err)
	}
	// Output: POST /fb/subscriber/addTagByName
}

// What to do after a failed call depends on what ManyChat may have done.
func ExampleError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"status":"error","message":"Validation error","details":{"messages":[{"message":"Wrong tag"}]}}`)
	}))
	defer server.Close()
	client, err := manychat.NewClient(manychat.ClientConfig{BaseURL: server.URL, Token: "100000000000001:invented"})
	if err != nil {
		fmt.Println(err)
		return
	}

	err = client.AddTagByName(context.Background(), "900000001", "lead")
	if e, ok := errors.AsType[*manychat.Error](err); ok {
		switch {
		case e.OutcomeUnknown():
			fmt.Println("it may have happened: try once more at most")
		case e.Kind == manychat.KindUnauthorized:
			fmt.Println("the token was replaced: stop and tell somebody")
		case e.Retryable():
			fmt.Println("try again after", e.RetryAfter)
		default:
			fmt.Println("refused for good:", e)
		}
	}
	// Output: refused for good: manychat: addTagByName "lead": rejected, status 400: Validation error: Wrong tag
}
