package manychattest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// A contact writes, the server under test answers in the response.
func ExampleServer() {
	agent := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println("asked:", string(body))
		_, _ = io.WriteString(w, `{"version":"v2","content":{"type":"whatsapp",
			"messages":[{"type":"text","text":"We open at nine."}],
			"quick_replies":[{"type":"node","caption":"Thanks","target":"Bye"}]}}`)
	})
	mc, err := manychattest.New(manychattest.Config{
		Channel: manychat.WhatsApp,
		Token:   "100000000000001:0123456789abcdef0123456789abcdef",
		Entry: manychattest.Entry{
			URL:        "https://agent.example.test/message",
			Body:       `{"subscriber_id":{{user_id}},"text":{{last_input_text}}}`,
			EncodeJSON: true,
		},
		Client: &http.Client{Transport: manychattest.Transport(agent)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()

	ada, err := mc.AddContact(manychattest.Contact{FirstName: "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	exchange, err := mc.Send(context.Background(), ada, manychattest.Input{Text: "When do you \"open\"?"})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range mc.Chat(ada) {
		fmt.Printf("%s: %s\n", item.From, item.Text)
	}
	fmt.Println("dropped:", exchange.Warnings[0])
	// Output:
	// asked: {"subscriber_id":"900000001","text":"When do you \"open\"?"}
	// contact: When do you "open"?
	// business: We open at nine.
	// dropped: quick replies are not supported on whatsapp: the contact does not see them
}

// A reply by API: write a custom field, trigger a flow that shows it.
func ExampleServer_WaitIdle() {
	mc, err := manychattest.New(manychattest.Config{
		Channel: manychat.WhatsApp, Token: "100000000000001:0123456789abcdef0123456789abcdef",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()
	if _, err := mc.DefineField("ai_reply", phone.Text); err != nil {
		log.Fatal(err)
	}
	mc.DefineFlow(manychattest.Flow{NS: "content20260101000000_000001", Steps: []manychattest.Step{
		{Delay: 10 * time.Millisecond, Text: "{{ai_reply}}"},
	}})
	ada, err := mc.AddContact(manychattest.Contact{LastInteraction: time.Now()})
	if err != nil {
		log.Fatal(err)
	}

	api := httptest.NewServer(mc)
	defer api.Close()
	for _, call := range []struct{ path, body string }{
		{"/fb/subscriber/setCustomFieldByName", `{"subscriber_id":"900000001","field_name":"ai_reply","field_value":"Here you are."}`},
		{"/fb/sending/sendFlow", `{"subscriber_id":"900000001","flow_ns":"content20260101000000_000001"}`},
	} {
		req, err := http.NewRequest(http.MethodPost, api.URL+call.path, strings.NewReader(call.body))
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer 100000000000001:0123456789abcdef0123456789abcdef")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode, string(body))
	}
	if err := mc.WaitIdle(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(mc.Chat(ada)[0].Text)
	// Output:
	// 200 {"status":"success"}
	// 200 {"status":"success"}
	// Here you are.
}

// An error that lies: the flow is played although ManyChat says that it is not.
func ExampleServer_SetFaults() {
	mc, err := manychattest.New(manychattest.Config{
		Channel: manychat.WhatsApp, Token: "100000000000001:0123456789abcdef0123456789abcdef",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer mc.Close()
	mc.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Text: "Hello."}}})
	ada, err := mc.AddContact(manychattest.Contact{LastInteraction: time.Now()})
	if err != nil {
		log.Fatal(err)
	}
	err = mc.SetFaults(manychattest.Faults{Faults: []manychattest.Fault{
		{Kind: fault.FalseMissing, Path: "/fb/sending/*", Times: 1},
	}})
	if err != nil {
		log.Fatal(err)
	}

	req := httptest.NewRequest(http.MethodPost, "/fb/sending/sendFlow", strings.NewReader(`{"subscriber_id":"`+ada+`","flow_ns":"content1"}`))
	req.Header.Set("Authorization", "Bearer 100000000000001:0123456789abcdef0123456789abcdef")
	w := httptest.NewRecorder()
	mc.ServeHTTP(w, req)
	call := mc.Calls()[0]
	fmt.Println(w.Code, "done:", call.Done, "fault:", call.Fault)
	fmt.Println(mc.Chat(ada)[0].Text)
	// Output:
	// 400 done: true fault: false_missing
	// Hello.
}
