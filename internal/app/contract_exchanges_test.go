package app_test

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/app/openapi"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
)

// operatorKey is the console's.
const operatorKey = "an-invented-console-key"

func withJSON(secret string) []string {
	return []string{"Authorization", "Bearer " + secret, "Content-Type", "application/json"}
}

func messageExchanges() []exchange {
	const reply, shows, known = `"type":"text","text":"`, `{"error":"bad_request"`, `"900000001"`
	all := []exchange{
		{name: "a message", body: `{"subscriber_id":"900000001","text":"hello"}`, status: 200, says: reply, allowed: true},
		{name: "an id as a number", body: `{"subscriber_id":12345678901234567890,"text":"hello"}`, status: 200, says: reply, allowed: true},
		{name: "32 digits", body: `{"subscriber_id":` + strings.Repeat("1", 32) + `,"text":"hello"}`, status: 200, says: reply, allowed: true},
		{name: "everything null", body: `{"subscriber_id":"900000001","text":"hello","ai_token":null,"course":null,"offering":null,"channel":null,"first_name":null,"last_name":null,"locale":null}`, status: 200, says: reply, allowed: true},
		{name: "everything given", body: `{"subscriber_id":"900000001","text":"hello","ai_token":"x","course":"x","offering":"{{x}}","channel":"carrier pigeon","first_name":"Ana","last_name":"Lima","locale":"en_US"}`, status: 200, says: reply, allowed: true},
		{name: "on Messenger", body: `{"subscriber_id":"900000001","text":"hello","channel":"messenger"}`, status: 200, says: `"content":{"messages"`, allowed: true},
		{name: "a long text", body: `{"subscriber_id":"900000001","text":"` + strings.Repeat("é", 5000) + `"}`, status: 200, says: reply, allowed: true},
		{name: "no words", body: `{"subscriber_id":"900000003","text":""}`, status: 200, says: reply, allowed: true},
		{name: "a handoff", body: `{"subscriber_id":"900000004","text":"I want to talk to a human"}`, status: 200, says: escalation, allowed: true},
		{name: "silence", body: `{"subscriber_id":"900000009","text":"hello"}`, status: 200, says: `"messages":[]`, allowed: true},
		{name: "a body that is repaired", body: `{"subscriber_id":"900000005","text":"say "hi" to me"}`, status: 200, says: reply},

		{name: "an unrendered id", body: `{"subscriber_id":"{{contact.id}}","text":"hello"}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "a negative id", body: `{"subscriber_id":-1,"text":"hello"}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "33 digits", body: `{"subscriber_id":` + strings.Repeat("1", 33) + `,"text":"hello"}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "33 digits in a string", body: `{"subscriber_id":"` + strings.Repeat("1", 33) + `","text":"hello"}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "no id", body: `{"text":"hello"}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "an id that is null", body: `{"subscriber_id":null,"text":"hello"}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "no text", body: `{"subscriber_id":` + known + `}`, status: 400, says: `"key":"text"`},
		{name: "a text that is null", body: `{"subscriber_id":` + known + `,"text":null}`, status: 400, says: `"key":"text"`},
		{name: "an unknown key", body: `{"subscriber_id":` + known + `,"text":"hello","txet":""}`, status: 400, says: `"key":"txet"`},
		{name: "a wrong type", body: `{"subscriber_id":` + known + `,"text":"hello","locale":5}`, status: 400, says: `"key":"locale"`},
		{name: "a long token", body: `{"subscriber_id":` + known + `,"text":"hello","ai_token":"` + strings.Repeat("é", 257) + `"}`, status: 400, says: `"key":"ai_token"`},
		{name: "a list", body: `[]`, status: 400, says: shows},
		{name: "no JSON", body: `hello`, status: 400, says: shows},
		// What no schema can say.
		{name: "a key given twice", body: `{"subscriber_id":` + known + `,"text":"hello","text":"hello"}`, status: 400, says: `"key":"text"`, allowed: true},
		{name: "an id with a fraction", body: `{"subscriber_id":5.0,"text":"hello"}`, status: 400, says: `"key":"subscriber_id"`, allowed: true},
	}
	for i := range all {
		all[i].to, all[i].headers = "POST "+inbound.MessagePath, withJSON(oldSecret)
	}
	return all
}

func contactExchanges() []exchange {
	const reply = `"type":"text","text":"`
	all := []exchange{
		{name: "Full Contact Data", body: `{"id":"900000001","key":"x","last_input_text":"hello","first_name":"Ana","custom_fields":{"ai_token":"","agent_course":null}}`, status: 200, says: reply, allowed: true},
		{name: "Full Contact Data with a list of fields", body: `{"id":900000001,"last_input_text":"hello","custom_fields":[{"name":"ai_token","value":"x"}]}`, status: 200, says: reply, allowed: true},
		{name: "Full Contact Data of other types", body: `{"id":"900000001","last_input_text":5,"first_name":[],"custom_fields":"none"}`, status: 200, says: reply, allowed: true},
		{name: "Full Contact Data, silent", body: `{"id":"900000009","last_input_text":"hello"}`, status: 200, says: `"messages":[]`, allowed: true},
		{name: "Full Contact Data without an id", body: `{"last_input_text":"hello"}`, status: 400, says: `"key":"id"`},
		{name: "Full Contact Data with an unrendered id", body: `{"id":"{{contact.id}}","last_input_text":"hello"}`, status: 400, says: `"key":"id"`},
		{name: "Full Contact Data with an id that is true", body: `{"id":true,"last_input_text":"hello"}`, status: 400, says: `"key":"id"`},
		{name: "no Full Contact Data", body: `"hello"`, status: 400, says: `{"error":"bad_request"`},
	}
	for i := range all {
		all[i].to, all[i].headers = "POST "+inbound.ContactPath, withJSON(newSecret)
	}
	return all
}

func pauseExchanges() []exchange {
	all := []exchange{
		{name: "a pause", body: `{"subscriber_id":"900000006","hours":4}`, status: 200, says: `{"subscriber_id":"900000006","paused":true,"until":"`, allowed: true},
		{name: "a pause of half an hour", body: `{"subscriber_id":900000006,"hours":0.5}`, status: 200, says: `"withheld":0}`, allowed: true},
		{name: "a pause of no stated length", body: `{"subscriber_id":"900000006"}`, status: 200, says: `"paused":true`, allowed: true},
		{name: "an end of a pause", body: `{"subscriber_id":"900000006","hours":0}`, status: 200, says: `{"subscriber_id":"900000006","paused":false,"until":null,"withheld":0}`, allowed: true},
		{name: "a pause of nobody", body: `{"hours":4}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "a pause of null", body: `{"subscriber_id":null}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "a pause of an unrendered id", body: `{"subscriber_id":"{{contact.id}}"}`, status: 400, says: `the name of a variable`},
		{name: "a pause of a list", body: `{"subscriber_id":["900000006"]}`, status: 400, says: `"key":"subscriber_id"`},
		{name: "a pause for too long", body: `{"subscriber_id":"900000006","hours":720.5}`, status: 400, says: `"key":"hours"`},
		{name: "a pause backwards", body: `{"subscriber_id":"900000006","hours":-1}`, status: 400, says: `from 0 to 720`},
		{name: "hours in quotes", body: `{"subscriber_id":"900000006","hours":"4"}`, status: 400, says: `without quotes`},
		{name: "hours that are null", body: `{"subscriber_id":"900000006","hours":null}`, status: 400, says: `"key":"hours"`},
		{name: "hours of a list", body: `{"subscriber_id":"900000006","hours":[4]}`, status: 400, says: `"key":"hours"`},
		{name: "another key of a pause", body: `{"subscriber_id":"900000006","minutes":4}`, status: 400, says: `"key":"minutes"`},
		{name: "no pause", body: `[]`, status: 400, says: `{"error":"bad_request"`},
		{name: "a broken pause", body: `{"subscriber_id":"900000006"`, status: 400, says: `the body is not JSON`},
		{name: "a pause and more", body: `{"subscriber_id":"900000006"}{}`, status: 400, says: `the body is not JSON`, allowed: true},
		{name: "a pause given twice", body: `{"subscriber_id":"900000006","hours":4,"hours":0}`, status: 400, says: `"key":"hours"`, allowed: true},
	}
	for i := range all {
		all[i].to, all[i].headers = "POST "+inbound.PausePath, withJSON(oldSecret)
	}
	return all
}

// refusedExchanges are refused for the same reasons on every route, and use up what an
// address has without a secret.
func refusedExchanges() (all []exchange) {
	bearer := []string{"Authorization", "Bearer " + newSecret}
	for _, on := range []struct{ path, body string }{
		{inbound.MessagePath, `{"subscriber_id":"900000001","text":"hello"}`},
		{inbound.ContactPath, `{"id":"900000001","last_input_text":"hello"}`},
		{inbound.PausePath, `{"subscriber_id":"900000006","hours":4}`},
	} {
		to, body := "POST "+on.path, on.body
		all = append(all,
			exchange{name: "too large", to: to, body: body[:len(body)-1] + strings.Repeat(" ", inbound.MaxBody) + "}", headers: withJSON(newSecret), status: 413, says: `{"error":"too_large"`, allowed: true},
			exchange{name: "a form", to: to, body: "text=hello", headers: append(bearer, "Content-Type", "application/x-www-form-urlencoded"), status: 415, says: `{"error":"unsupported_media_type"`},
			exchange{name: "compressed", to: to, body: body, headers: append(withJSON(newSecret), "Content-Encoding", "gzip"), status: 415, says: `{"error":"unsupported_media_type"`, allowed: true},
			exchange{name: "slow", to: to, body: body, headers: withJSON(newSecret), status: 408, says: `{"error":"timeout"`, allowed: true, slow: true},
			exchange{name: "another secret", to: to, body: body, headers: withJSON("a-secret-that-nobody-knows"), status: 401, says: `{"error":"unauthorized"}`, allowed: true},
			exchange{name: "no secret", to: to, body: body, headers: withJSON("")[2:], status: 401, says: `{"error":"unauthorized"}`},
		)
	}
	for _, path := range []string{inbound.MessagePath, inbound.ContactPath, inbound.PausePath} {
		all = append(all, exchange{name: "no secret again", to: "POST " + path, headers: withJSON("")[2:], status: 429, says: `{"error":"too_many_requests"}`})
	}
	return all
}

func processExchanges() []exchange {
	return []exchange{
		{name: "health", to: "GET /health", status: 200, says: `{"status":"ok"}`, allowed: true},
		{name: "ready", to: "GET /ready", status: 200, says: `"status":"ready"`, allowed: true},
		{name: "this document", to: "GET " + openapi.Path, status: 200, says: `"openapi": "3.1.0"`, allowed: true},
	}
}

func consoleExchanges() []exchange {
	const to = "GET " + console.TurnsPath
	key := []string{"Authorization", "Bearer " + operatorKey}
	return []exchange{
		{name: "turns", to: to + "?subscriber=900000001&limit=100", headers: key, status: 200, says: `"outcome":"answered"`, allowed: true},
		{name: "no turns", to: to + "?subscriber=900000008", headers: key, status: 200, says: `{"turns":[]}`, allowed: true},
		{name: "turns of nobody", to: to, headers: key, status: 400, says: `{"error":"subscriber`},
		{name: "turns of no id", to: to + "?subscriber=x", headers: key, status: 400, says: `{"error":"subscriber`},
		{name: "too many turns", to: to + "?subscriber=900000001&limit=101", headers: key, status: 400, says: `{"error":"limit`},
		{name: "turns for anybody", to: to + "?subscriber=900000001", status: 401, says: `{"error":"unauthorized"}`},
	}
}
