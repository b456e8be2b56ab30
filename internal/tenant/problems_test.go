package tenant_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// with puts members into an otherwise valid rules.json.
func with(members string) string { return strings.TrimSuffix(rules, "}") + "," + members + "}" }

// offering is a catalog whose only offering has further members.
func offering(members string) string {
	return strings.Replace(catalog, `"price"`, members+`,"price"`, 1)
}

// problemTest is one file and what is wrong with it, without the place in the line.
type problemTest struct {
	name, text string
	want       []string
}

func runProblems(t *testing.T, file string, tests []problemTest) {
	t.Helper()
	options := tenant.Options{ReplyField: "ai_message", TokenField: "ai_token", ReplyFlowNs: "reply_ns", MaxTextUnits: 40, NoWebhookSecret: true}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, line := range problems(t, folder(map[string]string{file: tt.text}), options) {
				_, line, _ = strings.Cut(line, " ")
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/10-config.md, "catalog.json".
func TestCatalogProblems(t *testing.T) {
	runProblems(t, "catalog.json", []problemTest{
		{"comments and trailing commas", strings.Replace(catalog, "{", "{ // shop\n /* € */", 1), nil},
		{"schema reference", strings.Replace(catalog, "{", `{"$schema":"./schema/catalog.json",`, 1), nil},
		{"old name of offerings", strings.Replace(catalog, "offerings", "courses", 1), []string{
			"/courses: found the old key \"courses\", expected \"offerings\" (`config upgrade` rewrites it)",
		}},
		{"old name of url", offering(`"enrollmentUrl":"http://x.example"`), []string{
			"/offerings/0/enrollmentUrl: found the old key \"enrollmentUrl\", expected \"url\" (`config upgrade` rewrites it)",
			`/offerings/0/enrollmentUrl: found "http://x.example", expected an https URL`,
		}},
		{"key given twice", strings.Replace(catalog, "{", `{"businessName":"C",`, 1), []string{
			`/businessName: found the key a second time, expected each key once`,
		}},
		{"unknown key", offering(`"shcedule":"Mondays"`), []string{
			`/offerings/0/shcedule: found the unknown key "shcedule", expected one of id, name, description, price, durationHours, schedule, url (did you mean "schedule"?)`,
		}},
		{"unknown key that resembles none", offering(`"x":1`), []string{
			`/offerings/0/x: found the unknown key "x", expected one of id, name, description, price, durationHours, schedule, url`,
		}},
		{"wrong types", offering(`"durationHours":"2","schedule":null,"url":[]`), []string{
			`/offerings/0/durationHours: found "2", expected a number above 0`,
			`/offerings/0/schedule: found null, expected a text that is not empty`,
			`/offerings/0/url: found a list, expected an https URL`,
		}},
		{"fraction of a minor unit", strings.Replace(catalog, "100", "100.5", 1), []string{
			`/offerings/0/price/amount: found 100.5, expected a whole number of at least 0`,
		}},
		{"whole number written otherwise", strings.Replace(catalog, "100", "1e2", 1), nil},
		{"unknown currency", strings.Replace(catalog, "EUR", "EUX", 1), []string{
			`/currency: found "EUX", expected an active ISO 4217 code such as EUR`,
		}},
		{"id", strings.Replace(catalog, `"a"`, `"A b"`, 1), []string{
			`/offerings/0/id: found "A b", expected an id of lower-case letters, digits, _ and -`,
		}},
		{"id given twice", strings.Replace(catalog, `}}]`, `}},{"id":"a","name":"N","description":"D","price":{"amount":1,"currency":"EUR"}}]`, 1), []string{
			`/offerings/1/id: found "a" a second time, expected an id of its own for each offering (the first is /offerings/0/id)`,
		}},
		{"missing keys", `{"businessName":"B","currency":"EUR","offerings":[{}]}`, []string{
			`/offerings/0/description: found nothing, expected a text that is not empty (the key is required)`,
			`/offerings/0/id: found nothing, expected an id of lower-case letters, digits, _ and - (the key is required)`,
			`/offerings/0/name: found nothing, expected a text that is not empty (the key is required)`,
			`/offerings/0/price: found nothing, expected an object (the key is required)`,
		}},
		{"a list at the top", `[]`, []string{`found a list, expected an object`}},
		{"empty file", ` `, []string{`found the end of the file, expected valid JSON (comments and trailing commas are allowed)`}},
		{"not UTF-8", "{\"\xff", []string{`found the byte 0xff, which is not UTF-8, expected valid JSON (comments and trailing commas are allowed)`}},
		{"nesting", strings.Repeat("[", 100), []string{`found more than 64 levels of nesting, expected valid JSON (comments and trailing commas are allowed)`}},
	})
}

// Holds docs/spec/10-config.md, "rules.json".
func TestRulesProblems(t *testing.T) {
	runProblems(t, "rules.json", []problemTest{
		{"threshold", with(`"confidenceThreshold":1.5`), []string{`/confidenceThreshold: found 1.5, expected a number from 0 to 1`}},
		{"misspelt key", with(`"confidenceTreshold":0.5`), []string{
			`/confidenceTreshold: found the unknown key "confidenceTreshold", expected one of $schema, messages, confidenceThreshold, maxTurnsPerConversation, idleResetHours, historyDays, escalationKeywords, openingTrigger, budget, rateLimit, priceGuard, escalationQuietMinutes, useFirstName, timezone, handoff, optOutKeywords, optInKeywords, audience, businessHours, learning (did you mean "confidenceThreshold"?)`,
		}},
		{"white space is no copy", `{"messages":{"acknowledgement":"  ","escalation":"e"}}`, []string{`/messages/acknowledgement: found "  ", expected a text that is not empty`}},
		{"text over the channel's limit", with(`"openingTrigger":{"keywords":["hi"],"message":"` + strings.Repeat("😀", 21) + `"}`), []string{
			`/openingTrigger/message: found 42 characters, expected at most 40, the channel's longest text`,
		}},
		{"keywords", with(`"escalationKeywords":["refund","","!!"]`), []string{
			`/escalationKeywords/1: found "", expected a text that is not empty`,
			`/escalationKeywords/2: found "!!", expected a keyword with a letter or a digit`,
		}},
		{"an end to messages and no way back", with(`"optOutKeywords":["stop"]`), nil},
		{"one keyword for both", with(`"optOutKeywords":["stop","basta"],"optInKeywords":["start","  BASTÀ! "]`), []string{
			`/optInKeywords/1: found "  BASTÀ! ", expected a keyword that is not in optOutKeywords (case and accents do not tell two apart)`,
		}},
		{"price guard", with(`"priceGuard":"flags"`), []string{`/priceGuard: found "flags", expected one of escalate, flag, off (did you mean "flag"?)`}},
		{"time zones", with(`"timezone":"Lisbon","businessHours":{"timezone":"Local","weekly":[{"days":["mon"],"from":"09:00","to":"24:00"}]}`), []string{
			`/timezone: found "Lisbon", expected an IANA time zone such as Europe/Lisbon`,
			`/businessHours/timezone: found "Local", expected an IANA time zone such as Europe/Lisbon`,
		}},
		{"hours", with(`"businessHours":{"weekly":[{"days":["monday"],"from":"9:00","to":"24:30"},{"days":["mon"],"from":"22:00","to":"06:00"}]}`), []string{
			`/businessHours/weekly/0/days/0: found "monday", expected one of mon, tue, wed, thu, fri, sat, sun`,
			`/businessHours/weekly/0/from: found "9:00", expected a time from 00:00 to 23:59`,
			`/businessHours/weekly/0/to: found "24:30", expected a time from 00:01 to 24:00`,
			`/businessHours/weekly/1/to: found "06:00", expected a time later than 22:00 (hours past midnight are two entries)`,
		}},
		{"budget", with(`"budget":{"dailyTokenCap":0,"warnAt":2,"prices":{"gpt":{"input":1,"output":-1}}}`), []string{
			`/budget/dailyTokenCap: found 0, expected a whole number of at least 1`,
			`/budget/warnAt: found 2, expected a number above 0, at most 1`,
			`/budget/prices/gpt: found "gpt", expected a model as provider:model`,
			`/budget/prices/gpt/output: found -1, expected a number of at least 0`,
		}},
		{"audience", with(`"audience":{"mode":"only"}`), []string{`/audience: found the mode "only" without subscribers, expected at least one subscriber (with none, nobody is answered)`}},
		{"subscribers", with(`"audience":{"subscribers":["1","x","1"]}`), []string{
			`/audience/subscribers/1: found "x", expected a ManyChat subscriber id: a string of 1 to 32 digits`,
			`/audience/subscribers/2: found "1" a second time, expected each value once`,
		}},
		{"handoff", with(`"handoff":{"flowNs":"Reply_NS","webhook":"https://","pauseHours":721}`), []string{
			`/handoff/flowNs: found the flow of MANYCHAT_REPLY_FLOW_NS, expected another flow (it would send the last reply again)`,
			`/handoff/webhook: found "https://", expected an https URL`,
			`/handoff/webhook: found an address and no HANDOFF_WEBHOOK_SECRET, expected a secret that its notices are signed with (set HANDOFF_WEBHOOK_SECRET in .env or in the environment, which are read at the start; openssl rand -hex 32 makes one)`,
			`/handoff/pauseHours: found 721, expected a number from 0 to 720`,
		}},
		{"the flow of a handoff", with(`"handoff":{"flowNs":"https://app.example/content20260101000000_000001"}`), []string{
			`/handoff/flowNs: found "https://app.example/content20260101000000_000001", expected ` + namespace,
		}},
		{"learning without a funnel", with(`"learning":{"language":"English","convertedTag":"paid","maxRunCostUsd":1}`), []string{
			`/learning: found learning without a funnel, expected a field of tools.json with "funnel": true`,
		}},
	})
}

// Holds docs/spec/10-config.md, "tools.json", and docs/spec/07-tools.md, "Notes".
func TestToolsProblems(t *testing.T) {
	runProblems(t, "tools.json", []problemTest{
		{"empty", `{}`, nil},
		{"flow", `{"flows":[{"id":"f","flowNs":"reply_ns","description":"d","settleSeconds":31}]}`, []string{
			`/flows/0/flowNs: found the flow of MANYCHAT_REPLY_FLOW_NS, expected another flow (it would send the last reply again)`,
			`/flows/0/settleSeconds: found 31, expected a number from 0 to 30`,
		}},
		{"fields of delivery", `{"fields":[{"id":"f","field":"ai_message","values":["a"],"description":"d"}],"notes":[{"id":"n","field":"ai_token","maxLength":9,"neverRendered":true,"description":"d"}]}`, []string{
			`/fields/0/field: found the field of MANYCHAT_REPLY_FIELD, expected another field (a write would replace a reply in flight)`,
			`/notes/0/field: found the field of MANYCHAT_TOKEN_FIELD, expected another field (a write would replace the contact's token)`,
		}},
		{"fields of delivery in another case", `{"fields":[{"id":"f","field":"AI_Meſſage ","values":["a"],"description":"d"}],"notes":[{"id":"n","field":"X","maxLength":9,"neverRendered":true,"description":"d"},{"id":"m","field":"x","maxLength":9,"neverRendered":true,"description":"d"}]}`, []string{
			`/fields/0/field: found the field of MANYCHAT_REPLY_FIELD, expected another field (a write would replace a reply in flight)`,
			`/notes/1/field: found "x" a second time, expected a custom field of its own for each field and note (the first is /notes/0/field)`,
		}},
		{"colliding fields", `{"fields":[{"id":"f","field":"x","values":["a","a"],"description":"d"}],"notes":[{"id":"f","field":"x","maxLength":9,"neverRendered":true,"description":"d"}]}`, []string{
			`/fields/0/values/1: found "a" a second time, expected each value once`,
			`/notes/0/field: found "x" a second time, expected a custom field of its own for each field and note (the first is /fields/0/field)`,
		}},
		{"note", `{"notes":[{"id":"n","field":"x","maxLength":501,"neverRendered":false,"description":"d"}]}`, []string{
			`/notes/0/maxLength: found 501, expected a whole number from 1 to 500`,
			`/notes/0/neverRendered: found false, expected true`,
		}},
		{"fields of delivery that are read", `{"readable":{"fields":[{"id":"a","field":"AI_TOKEN","values":["x"]},{"id":"b","field":"ai_message","values":["x"]}]}}`, []string{
			`/readable/fields/0/field: found the field of MANYCHAT_TOKEN_FIELD, expected another field (it holds the contact's token)`,
			`/readable/fields/1/field: found the field of MANYCHAT_REPLY_FIELD, expected another field (it holds the last late reply)`,
		}},
		{"a field that is written and read", `{"fields":[{"id":"f","field":"Shift","values":["a"],"description":"d"}],"readable":{"fields":[{"id":"g","field":" shift","values":["a"]}]}}`, []string{
			`/readable/fields/0/field: found " shift" a second time, expected a custom field of its own for each field and note (the first is /fields/0/field)`,
		}},
		{"reply flow in another case", `{"flows":[{"id":"f","flowNs":"REPLY_ns","description":"d"}]}`, []string{
			`/flows/0/flowNs: found the flow of MANYCHAT_REPLY_FLOW_NS, expected another flow (it would send the last reply again)`,
		}},
		{"two ids of one flow", `{"flows":[{"id":"f","flowNs":"content1","description":"d"},{"id":"g","flowNs":"Content1","description":"d","repeatable":true},{"id":"h","flowNs":"content1","description":"d"},{"id":"i","flowNs":"content10","description":"d"}]}`, []string{
			`/flows/1/flowNs: found the flow of f, expected a flow of its own for each id (a contact would get it once for each)`,
			`/flows/2/flowNs: found the flow of f, expected a flow of its own for each id (a contact would get it once for each)`,
		}},
		{"two ids of one tag", `{"tags":[{"id":"a","tag":"VIP","description":"d"},{"id":"b","tag":" VIP","description":"d"},{"id":"c","tag":"","description":"d"}],"readable":{"tags":[{"id":"d","tag":"VIP"},{"id":"e","tag":"seen"},{"id":"f","tag":"seen "}]}}`, []string{
			`/tags/1/tag: found the tag of a, expected a tag of its own for each id, readable ones included (the model would take one tag for two)`,
			`/tags/2/tag: found "", expected a text that is not empty`,
			`/readable/tags/0/tag: found the tag of a, expected a tag of its own for each id, readable ones included (the model would take one tag for two)`,
			`/readable/tags/2/tag: found the tag of e, expected a tag of its own for each id, readable ones included (the model would take one tag for two)`,
		}},
		{"two tags that differ in their case", `{"tags":[{"id":"a","tag":"VIP","description":"d"},{"id":"b","tag":"vip","description":"d"}],"readable":{"tags":[{"id":"c","tag":"Vip"}]}}`, nil},
		{"no namespaces", `{"flows":[{"id":"f","flowNs":"https://app.example/fb1/cms/files/content20260101000000_000002","description":"d"},{"id":"g","flowNs":"content:1","description":"d"},{"id":"h","flowNs":"content1\n","description":"d"},{"id":"i","flowNs":"","description":"d"},{"id":"j","flowNs":"the brochure","description":"d"},{"id":"k","flowNs":"content20260101000000_000001","description":"d"}]}`, []string{
			`/flows/0/flowNs: found "https://app.example/fb1/cms/files/content20260101000000_000…, expected ` + namespace,
			`/flows/1/flowNs: found "content:1", expected ` + namespace,
			`/flows/2/flowNs: found "content1\n", expected ` + namespace,
			`/flows/3/flowNs: found "", expected ` + namespace,
			`/flows/4/flowNs: found "the brochure", expected ` + namespace,
		}},
		{"no namespace of an event", `{"fields":[` + intent + `,` + funnel + `],"events":[{"id":"e","stage":"offered","flowNs":"a/b"}]}`, []string{`/events/0/flowNs: found "a/b", expected ` + namespace}},
		{"values that are no texts", `{"fields":[{"id":"f","field":"x","values":[1,2,null,"a","a"],"description":"d"},{"id":"g","field":"y","values":"morning","description":"d"},{"id":"h","field":"i","values":[1,2],"description":"d","intent":true}]}`, []string{
			`/fields/0/values/0: found 1, expected a text that is not empty`,
			`/fields/0/values/1: found 2, expected a text that is not empty`,
			`/fields/0/values/2: found null, expected a text that is not empty`,
			`/fields/0/values/4: found "a" a second time, expected each value once`,
			`/fields/1/values: found "morning", expected a list of at least 1 text`,
			`/fields/2/values/0: found 1, expected a text that is not empty`,
			`/fields/2/values/1: found 2, expected a text that is not empty`,
		}},
		{"lists that are none", `{"flows":{},"readable":{"tags":7}}`, []string{
			`/flows: found an object, expected a list of objects`,
			`/readable/tags: found 7, expected a list of objects`,
		}},
		{"bounds", `{"flows":[{"id":"f","flowNs":"1","description":"d","settleSeconds":-1}],"notes":[{"id":"n","field":"x","maxLength":0,"neverRendered":true,"description":"d"}]}`, []string{
			`/flows/0/settleSeconds: found -1, expected a number from 0 to 30`,
			`/notes/0/maxLength: found 0, expected a whole number from 1 to 500`,
		}},
		{"at the bounds", `{"flows":[{"id":"f","flowNs":"1","description":"d","settleSeconds":30}],"notes":[{"id":"n","field":"x","maxLength":500,"neverRendered":true,"description":"d"}],"nudge":{"delays":[{"id":"d","minutes":1380}]}}`, nil},
		{"a note without a promise", `{"notes":[{"id":"n","field":"x","description":"d"}]}`, []string{
			`/notes/0/maxLength: found nothing, expected a whole number from 1 to 500 (the key is required)`,
			`/notes/0/neverRendered: found nothing, expected true (the key is required)`,
		}},
		{"what is required", `{"flows":[{}],"tags":[{}],"fields":[{"values":[]}],"readable":{"tags":[{}],"fields":[{"id":"a","field":"b"}]}}`, []string{
			`/flows/0/description: found nothing, expected a text that is not empty (the key is required)`,
			`/flows/0/flowNs: found nothing, expected ` + namespace + ` (the key is required)`,
			`/flows/0/id: found nothing, expected an id of lower-case letters, digits, _ and - (the key is required)`,
			`/tags/0/description: found nothing, expected a text that is not empty (the key is required)`,
			`/tags/0/id: found nothing, expected an id of lower-case letters, digits, _ and - (the key is required)`,
			`/tags/0/tag: found nothing, expected a text that is not empty (the key is required)`,
			`/fields/0/description: found nothing, expected a text that is not empty (the key is required)`,
			`/fields/0/field: found nothing, expected a text that is not empty (the key is required)`,
			`/fields/0/id: found nothing, expected an id of lower-case letters, digits, _ and - (the key is required)`,
			`/fields/0/values: found an empty list, expected a list of at least 1 text`,
			`/readable/tags/0/id: found nothing, expected an id of lower-case letters, digits, _ and - (the key is required)`,
			`/readable/tags/0/tag: found nothing, expected a text that is not empty (the key is required)`,
			`/readable/fields/0/values: found nothing, expected a list of at least 1 text (the key is required)`,
		}},
		{"ids", `{"flows":[{"id":"Intro course","flowNs":"1","description":"d"}],"notes":[{"id":"-n","field":"x","maxLength":9,"neverRendered":true,"description":"d"}]}`, []string{
			`/flows/0/id: found "Intro course", expected an id of lower-case letters, digits, _ and -`,
			`/notes/0/id: found "-n", expected an id of lower-case letters, digits, _ and -`,
		}},
		{"ids given twice", `{"flows":[{"id":"a","flowNs":"1","description":"d"},{"id":"a","flowNs":"2","description":"d"}],
			"fields":[{"id":"a","field":"x","values":["v"],"description":"d"}],"readable":{"fields":[{"id":"a","field":"y","values":["v"]}]},
			"notes":[{"id":"n","field":"p","maxLength":9,"neverRendered":true,"description":"d"},{"id":"n","field":"q","maxLength":9,"neverRendered":true,"description":"d"}]}`, []string{
			`/flows/1/id: found "a" a second time, expected an id of its own for each flow (the first is /flows/0/id)`,
			`/readable/fields/0/id: found "a" a second time, expected an id of its own for each field, readable ones included (the first is /fields/0/id)`,
			`/notes/1/id: found "n" a second time, expected an id of its own for each note (the first is /notes/0/id)`,
		}},
		{"misspelt keys", `{"flow":[],"tags":[{"id":"a","tag":"x","descripton":"d","description":"d"}]}`, []string{
			`/flow: found the unknown key "flow", expected one of $schema, flows, tags, fields, readable, notes, nudge, events (did you mean "flows"?)`,
			`/tags/0/descripton: found the unknown key "descripton", expected one of id, tag, description (did you mean "description"?)`,
		}},
		{"ids of tags and readable tags", `{"tags":[{"id":"a","tag":"x","description":"d"}],"readable":{"tags":[{"id":"a","tag":"y"}]}}`, []string{
			`/readable/tags/0/id: found "a" a second time, expected an id of its own for each tag, readable ones included (the first is /tags/0/id)`,
		}},
		{"nudge", `{"tags":[{"id":"a","tag":"busy","description":"d"}],"nudge":{"delays":[{"id":"d","minutes":1381},{"id":"d","minutes":1}],"humanActiveTag":"busy"}}`, []string{
			`/nudge/delays/0/minutes: found 1381, expected a whole number from 1 to 1380`,
			`/nudge/delays/1/id: found "d" a second time, expected an id of its own for each delay (the first is /nudge/delays/0/id)`,
			`/nudge/humanActiveTag: found the tag of a, expected a tag that the agent cannot set`,
		}},
	})
}

// namespace is what a flow's has to be.
const namespace = "the namespace of a flow, such as content20260101000000_000001, which is the last part of its address in the browser: letters, digits and _ only"

const (
	intent = `{"id":"i","field":"i","values":["prospect","not_prospect"],"description":"d","intent":true}`
	funnel = `{"id":"s","field":"s","values":["new","qualifying","nurturing","offered","prepared","link_sent"],"description":"d","funnel":true}`
)

// Holds docs/spec/10-config.md, "Variables": a webhook's notices are signed; what may sign
// them is known where the environment was read.
func TestWebhookNeedsASecret(t *testing.T) {
	files := folder(map[string]string{"rules.json": with(`"handoff":{"webhook":"https://desk.example/agent"}`)})
	if got := problems(t, files, tenant.Options{}); got != nil {
		t.Errorf("with a secret: %q", got)
	}
	want := []string{"rules.json:1:79 /handoff/webhook: found an address and no HANDOFF_WEBHOOK_SECRET, expected a secret that its notices are signed with " +
		"(set HANDOFF_WEBHOOK_SECRET in .env or in the environment, which are read at the start; openssl rand -hex 32 makes one)"}
	if diff := cmp.Diff(want, problems(t, files, tenant.Options{NoWebhookSecret: true})); diff != "" {
		t.Errorf("without a secret (-want +got):\n%s", diff)
	}
	if got := problems(t, folder(map[string]string{"rules.json": with(`"handoff":{"tag":"person"}`)}), tenant.Options{NoWebhookSecret: true}); got != nil {
		t.Errorf("without a webhook: %q", got)
	}
}

// Holds docs/spec/10-config.md, "rules.json": an address that nothing can be posted to is none.
func TestAddressesThatAreNone(t *testing.T) {
	for address, valid := range map[string]bool{
		"https://desk.example": true, "https://desk.example:8443/a?b=c": true, "https://desk.example:65535": true, "https://[::1]:8443/": true,
		"https://desk.example:65536": false, "https://desk.example:99999/agent": false, "https://desk.example:0/": false, "https://desk.example:x": false,
		"https://desk.example/an agent": false, "https://desk example/": false, " https://desk.example": false, "https://desk.example/ ": false,
		"https://desk.example/\u00a0": false, "https://desk.example/\\n": false, "https://": false, "https://:443/": false, "http://desk.example": false, "https://u:p@desk.example": false,
	} {
		for file, text := range map[string]string{
			"rules.json":   with(`"handoff":{"webhook":"` + address + `"}`),
			"catalog.json": offering(`"url":"` + address + `"`),
		} {
			got := problems(t, folder(map[string]string{file: text}), tenant.Options{})
			if (got == nil) != valid || !valid && !strings.HasSuffix(got[0], ", expected an https URL") {
				t.Errorf("%s in %s: %q", address, file, got)
			}
		}
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": what tells people of an escalation is
// not the agent's to send, to set or to take back. Tags are compared as ManyChat does, with
// their case.
func TestHandoffAndTools(t *testing.T) {
	const tools = `{"flows":[{"id":"f","flowNs":"content1","description":"d"}],"tags":[{"id":"g","tag":"Person","description":"d"}],"readable":{"tags":[{"id":"r","tag":"waits"}]}}`
	tests := []struct {
		name, handoff string
		want          []string
	}{
		{"of its own", `{"tag":"needs-person","flowNs":"content2"}`, nil},
		{"a tag in another case", `{"tag":"person"}`, nil},
		{"a tag that is only read", `{"tag":"waits"}`, nil},
		{"none", `{}`, nil},
		{"both", `{"tag":" Person","flowNs":"Content1"}`, []string{
			`/handoff/flowNs: found the flow of f in tools.json, expected a flow that the agent cannot send (the contact would get it twice)`,
			`/handoff/tag: found the tag of g in tools.json, expected a tag that the agent cannot set (it would call people, and send them away, without handing over)`,
		}},
	}
	for _, tt := range tests {
		var got []string
		for _, line := range problems(t, folder(map[string]string{"rules.json": with(`"handoff":` + tt.handoff), "tools.json": tools}), tenant.Options{}) {
			_, line, _ = strings.Cut(line, " ")
			got = append(got, line)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Holds docs/spec/08-sales.md, "Markers".
func TestMarkerProblems(t *testing.T) {
	runProblems(t, "tools.json", []problemTest{
		{"all marks", `{"fields":[` + intent + `,` + funnel + `,{"id":"o","field":"o","values":["a"],"description":"d","offering":true}],
			"flows":[{"id":"p","flowNs":"1","description":"d","role":"payment_link"},{"id":"w","flowNs":"2","description":"d","role":"opening"},{"id":"x","flowNs":"3","description":"d","onStage":"offered","offering":"a","repeatable":true}],
			"events":[{"id":"e","stage":"link_sent","flowNs":"4"}]}`, nil},
		{"values", `{"fields":[{"id":"i","field":"i","values":["yes"],"description":"d","intent":true},` + strings.Replace(funnel, `"new",`, "", 1) + `,{"id":"o","field":"o","values":["b"],"description":"d","offering":true}]}`, []string{
			`/fields/0/values: found yes, expected exactly not_prospect, prospect`,
			`/fields/1/values: found qualifying, nurturing, offered, prepared, link_sent, expected exactly new, qualifying, nurturing, offered, prepared, link_sent, in that order`,
			`/fields/2/values: found b, expected exactly a`,
		}},
		{"two intents and a double mark", `{"fields":[` + intent + `,{"id":"j","field":"j","values":["not_prospect","prospect"],"description":"d","intent":true,"offering":true}]}`, []string{
			`/fields/1: found the marks intent and offering, expected one mark on a field`,
			`/fields/1/values: found not_prospect, prospect, expected exactly a`,
			`/fields/1/intent: found "intent" a second time, expected one field with the mark (the first is /fields/0/intent)`,
		}},
		{"funnel without intent", `{"fields":[` + funnel + `]}`, []string{
			`/fields/0/funnel: found a funnel without an intent, expected another field with "intent": true`,
		}},
		{"payment link", `{"flows":[{"id":"p","flowNs":"1","description":"d","role":"payment_link","offering":"a","onStage":"offered"}]}`, []string{
			`/flows/0/offering: found an offering, expected none on a flow with the role payment_link`,
			`/flows/0/onStage: found a stage, expected none on a flow with the role payment_link`,
		}},
		{"opening", `{"flows":[{"id":"w","flowNs":"1","description":"d","role":"opening","repeatable":true},{"id":"v","flowNs":"2","description":"d","role":"opening"}]}`, []string{
			`/flows/0/role: found an opening without an intent, expected a field with "intent": true`,
			`/flows/0/repeatable: found true, expected false on the opening, which is sent once`,
			`/flows/1/role: found "opening" a second time, expected one flow with the role (the first is /flows/0/role)`,
			`/flows/1/role: found an opening without an intent, expected a field with "intent": true`,
		}},
		{"stages and offerings of flows", `{"flows":[{"id":"x","flowNs":"1","description":"d","onStage":"new"},{"id":"y","flowNs":"2","description":"d","offering":"b"}]}`, []string{
			`/flows/0/onStage: found "new", expected one of qualifying, nurturing, offered, prepared`,
			`/flows/1/offering: found "b", expected the id of an offering of catalog.json (did you mean "a"?)`,
		}},
		{"stages on the flows of roles", `{"fields":[` + intent + `],"flows":[{"id":"p","flowNs":"1","description":"d","role":"payment_link","onStage":"prepared"},{"id":"w","flowNs":"2","description":"d","role":"opening","onStage":"offered","offering":"a"}]}`, []string{
			`/flows/0/onStage: found a stage, expected none on a flow with the role payment_link`,
			`/flows/1/onStage: found a stage, expected none on a flow with the role opening`,
			`/flows/1/offering: found an offering, expected none on a flow with the role opening`,
		}},
		{"stages that no flow has", `{"flows":[{"id":"x","flowNs":"1","description":"d","onStage":"link_sent"},{"id":"y","flowNs":"2","description":"d","onStage":"offered"},{"id":"z","flowNs":"3","description":"d","onStage":"offered"}]}`, []string{
			`/flows/0/onStage: found "link_sent", expected one of qualifying, nurturing, offered, prepared`,
			`/flows/2/onStage: found "offered" a second time, expected one flow for each stage (the first is /flows/1/onStage)`,
		}},
		{"events of the beginning", `{"fields":[` + intent + `,` + funnel + `],"events":[{"id":"e","stage":"new","flowNs":"1"},{"id":"e","stage":"offered","flowNs":"REPLY_ns"},{"id":"f","stage":"prepared","flowNs":"1"}]}`, []string{
			`/events/0/stage: found "new", expected one of qualifying, nurturing, offered, prepared, link_sent`,
			`/events/1/id: found "e" a second time, expected an id of its own for each event (the first is /events/0/id)`,
			`/events/1/flowNs: found the flow of MANYCHAT_REPLY_FLOW_NS, expected another flow (it would send the last reply again)`,
			`/events/2/flowNs: found a flow that another entry names, expected a flow of its own for each event`,
		}},
		{"events", `{"flows":[{"id":"x","flowNs":"1","description":"d"}],"events":[{"id":"e","stage":"offered","flowNs":"1"},{"id":"f","stage":"offered","flowNs":"2"}]}`, []string{
			`/events: found events without a funnel, expected a field with "funnel": true`,
			`/events/0/flowNs: found a flow that another entry names, expected a flow of its own for each event`,
			`/events/1/stage: found "offered" a second time, expected one event for each stage (the first is /events/0/stage)`,
		}},
	})
}
