package manychattest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

func refused(text string) answer {
	return answer{400, `{"status":"error","message":"` + text + `","details":{"messages":[{"message":"` + text + `"}]}}`}
}

func invalid(text string) answer {
	return answer{400, `{"status":"error","message":"Validation error","details":{"messages":[{"message":"` + text + `"}]}}`}
}

// Holds docs/reference/manychat-platform.md, section 7, "401 Wrong token / Wrong
// format token; 404 unknown path; 400 generic with details.messages".
func TestErrorsOfEveryCall(t *testing.T) {
	a := open(t, nil)
	keys := map[string]string{
		token:                     `{"status":"success","data":[]}`,
		token + "x":               `{"status":"error","message":"Wrong token"}`,
		"100000000000001:another": `{"status":"error","message":"Wrong token"}`,
		"nonsense":                `{"status":"error","message":"Wrong format token"}`,
		"":                        `{"status":"error","message":"Wrong format token"}`,
	}
	for key, want := range keys {
		got, err := a.callWith(context.Background(), key, "/fb/page/getTags", "")
		status := http.StatusUnauthorized
		if key == token {
			status = http.StatusOK
		}
		if err != nil || got != (answer{status, want}) {
			t.Errorf("key %q: got %+v, %v", key, got, err)
		}
	}
	for _, path := range []string{"/fb/subscriber/list", "/fb/page/getTags/", "/", "/fb/subscriber/getHistory", "/fb/sending/getStatus"} {
		if got := a.api(path, ""); got.status != 404 {
			t.Errorf("%s: got %+v", path, got)
		}
	}
	if got := a.api("/fb/page/getTags", "{}"); got.status != 404 {
		t.Errorf("a wrong method: got %+v", got)
	}
	for _, body := range []string{"[]", "null", "name=x", "{"} {
		a.wantAnswer("/fb/page/createTag", body, invalid("The request body must be a JSON object"))
	}
	a.wantAnswer("/fb/page/createTag", "{}", invalid("name is required"))
	a.wantAnswer("/fb/page/createTag", `{"name":7}`, invalid("name must be a string"))
}

// Holds "All rows of 2.2 with exact paths, methods, status/data envelope": every
// operation of the OpenAPI file, getWidgets included, answers a success.
func TestEveryOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, nil, func(c *manychattest.Config) {
			c.Page = manychattest.Page{Name: "Demo", OTNTopics: []string{"news"}}
		})
		a.DefineFlow(manychattest.Flow{Name: "Reply", NS: "content1"})
		id := a.add(manychattest.Contact{FirstName: "Ada", LastName: "Park", UserRef: "-77", Email: "ada@example.test", Phone: "+10000000000", LastInteraction: time.Now()})
		sub := `"subscriber_id":` + id
		data := `"data":` + whatsapp("hello")
		rows := []struct{ path, body, want string }{
			{"/fb/page/getInfo", "", `{"about":"","avatar_link":"","category":"","description":"","id":100000000000001,"is_pro":true,"name":"Demo","timezone":"UTC","username":""}`},
			{"/fb/page/createTag", `{"name":"lead"}`, `{"tag":{"id":11,"name":"lead"}}`},
			{"/fb/page/createTag", `{"name":"Lead"}`, `{"tag":{"id":12,"name":"Lead"}}`},
			{"/fb/page/getTags", "", `[{"id":11,"name":"lead"},{"id":12,"name":"Lead"}]`},
			{"/fb/page/createCustomField", `{"caption":"Note","type":"text","description":"d"}`, `{"field":{"id":1001,"name":"Note","type":"text","description":"d"}}`},
			{"/fb/page/getCustomFields", "", `[{"id":1001,"name":"Note","type":"text","description":"d"}]`},
			{"/fb/page/createBotField", `{"name":"rate","type":"number","value":2.5}`, `{"field":{"id":1002,"name":"rate","type":"number","description":null,"value":2.5}}`},
			{"/fb/page/setBotField", `{"field_id":1002,"field_value":3}`, ""},
			{"/fb/page/setBotFieldByName", `{"field_name":"RATE","field_value":4}`, ""},
			{"/fb/page/setBotFields", `{"fields":[{"field_id":1002,"field_value":5}]}`, ""},
			{"/fb/page/getBotFields", "", `[{"id":1002,"name":"rate","type":"number","description":null,"value":5}]`},
			{"/fb/page/getFlows", "", `{"flows":[{"ns":"content1","name":"Reply","folder_id":0}],"folders":[]}`},
			{"/fb/page/getGrowthTools", "", `[]`},
			{"/fb/page/getWidgets", "", `[]`},
			{"/fb/page/getOtnTopics", "", `[{"id":1,"name":"news","description":null}]`},
			{"/fb/sending/sendContent", `{` + sub + `,` + data + `}`, ""},
			{"/fb/sending/sendContentByUserRef", `{"user_ref":-77,` + data + `}`, ""},
			{"/fb/sending/sendFlow", `{` + sub + `,"flow_ns":"content1"}`, ""},
			{"/fb/subscriber/addTag", `{` + sub + `,"tag_id":11}`, ""},
			{"/fb/subscriber/addTagByName", `{` + sub + `,"tag_name":"Lead"}`, ""},
			{"/fb/subscriber/removeTag", `{` + sub + `,"tag_id":11}`, ""},
			{"/fb/subscriber/removeTagByName", `{` + sub + `,"tag_name":"Lead"}`, ""},
			{"/fb/subscriber/setCustomField", `{` + sub + `,"field_id":1001,"field_value":"a"}`, ""},
			{"/fb/subscriber/setCustomFieldByName", `{` + sub + `,"field_name":"nOTE","field_value":"b"}`, ""},
			{"/fb/subscriber/setCustomFields", `{` + sub + `,"fields":[{"field_name":"Note","field_value":"c"},{"field_id":1001,"field_value":"d"}]}`, ""},
			{"/fb/subscriber/verifyBySignedRequest", `{` + sub + `,"signed_request":"x"}`, ""},
			{"/fb/page/removeTag", `{"tag_id":11}`, ""},
			{"/fb/page/removeTagByName", `{"tag_name":"Lead"}`, ""},
		}
		for _, row := range rows {
			time.Sleep(time.Second)
			want := `{"status":"success","data":` + row.want + `}`
			if row.want == "" {
				want = `{"status":"success"}`
			}
			a.wantAnswer(row.path, row.body, answer{200, want})
		}
		profiles := []struct{ path, body string }{
			{"/fb/subscriber/getInfo?subscriber_id=" + id, ""},
			{"/fb/subscriber/getInfoByUserRef?user_ref=-77", ""},
			{"/fb/subscriber/findByName?name=Ada+Park", ""},
			{"/fb/subscriber/findByCustomField?field_id=1001&field_value=d", ""},
			{"/fb/subscriber/findBySystemField?email=ada@example.test", ""},
			{"/fb/subscriber/findBySystemField?phone=%2B10000000000", ""},
			{"/fb/subscriber/updateSubscriber", `{` + sub + `,"last_name":"Parker"}`},
			{"/fb/subscriber/createSubscriber", `{"first_name":"Bo","whatsapp_phone":"+10000000001"}`},
		}
		for _, row := range profiles {
			if got := a.wantOK(row.path, row.body); !strings.Contains(got, `"id":"9000000`) {
				t.Errorf("%s: got %s", row.path, got)
			}
		}
		if n := len(a.Calls()); n != len(rows)+len(profiles) {
			t.Errorf("the log holds %d calls", n)
		}
	})
}

// Holds "ids as string in Subscriber, int in Tag/Field" and section 3.2.
func TestGetInfoShape(t *testing.T) {
	a := open(t, nil)
	a.field("ai_message", phone.Text)
	a.tag("lead")
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	id := a.add(manychattest.Contact{FirstName: "Ada", Tags: []string{"lead"}, Subscribed: at, LastInteraction: at.Add(24 * time.Hour), LastInput: "hello", WhatsAppPhone: "+10000000000"})
	var got any
	if err := json.Unmarshal([]byte(a.wantOK("/fb/subscriber/getInfo?subscriber_id="+id, "")), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": "900000001", "page_id": "100000000000001", "user_refs": []any{}, "first_name": "Ada", "last_name": nil, "name": "Ada",
		"gender": nil, "profile_pic": nil, "locale": nil, "language": nil, "timezone": nil,
		"live_chat_url": "https://app.manychat.com/fb100000000000001/chat/900000001", "last_input_text": "hello",
		"optin_phone": false, "phone": nil, "optin_email": false, "email": nil, "optin_whatsapp": true, "is_followup_enabled": true,
		"subscribed": "2026-01-01T10:00:00+00:00", "last_interaction": "2026-01-02T10:00:00+00:00", "last_seen": "2026-01-02T10:00:00+00:00",
		"ig_username": nil, "ig_id": nil, "whatsapp_phone": "+10000000000", "whatsapp_bsuid": nil, "whatsapp_username": nil,
		"custom_fields": []any{map[string]any{"id": 1001.0, "name": "ai_message", "type": "text", "description": nil, "value": nil}},
		"tags":          []any{map[string]any{"id": 11.0, "name": "lead"}},
	}
	if diff := cmp.Diff(map[string]any{"status": "success", "data": want}, got); diff != "" {
		t.Error(diff)
	}
}

// Holds "accept subscriber_id as number or string" and "Messenger ids of 17
// digits", which a number must carry whole.
func TestSubscriberIDForms(t *testing.T) {
	a := open(t, nil)
	a.field("note", phone.Text)
	id := a.add(manychattest.Contact{ID: "24000000000000077", Channel: manychat.Messenger})
	for _, form := range []string{id, `"` + id + `"`} {
		a.wantOK("/fb/subscriber/setCustomFieldByName", `{"subscriber_id":`+form+`,"field_name":"note","field_value":"x"}`)
	}
	calls := a.Calls()
	if calls[0].Contact != id || calls[1].Contact != id {
		t.Errorf("got %+v", calls)
	}
}

// Holds "Case-insensitive field_name; 20-field cap; null clears; per-type value
// check; both datetime forms".
func TestFieldValues(t *testing.T) {
	a := open(t, nil, func(c *manychattest.Config) { c.Unlimited = true })
	for name, kind := range map[string]phone.FieldType{"T": phone.Text, "N": phone.Number, "B": phone.Boolean, "D": phone.Date, "DT": phone.DateTime} {
		a.field(name, kind)
	}
	id := a.add(manychattest.Contact{})
	set := func(name, value string) string {
		return `{"subscriber_id":"` + id + `","field_name":"` + name + `","field_value":` + value + `}`
	}
	good := []struct {
		field, value string
		want         any
	}{
		{"t", `"x"`, "x"}, {"n", `2`, 2.0}, {"n", `2.5`, 2.5}, {"b", `true`, true},
		{"d", `"2026-02-03"`, "2026-02-03"}, {"dt", `"2026-02-03T10:00:00+03:00"`, "2026-02-03T10:00:00+03:00"},
		{"t", `null`, nil}, {"n", `null`, nil}, {"dt", `null`, nil},
	}
	for _, tt := range good {
		a.wantOK("/fb/subscriber/setCustomFieldByName", set(tt.field, tt.value))
		if got := a.contact(id).Fields[strings.ToUpper(tt.field)]; got != tt.want {
			t.Errorf("%s %s: got %v", tt.field, tt.value, got)
		}
	}
	bad := []struct{ field, value, want string }{
		{"t", `1`, "field_value must be of the type text"}, {"n", `"2"`, "field_value must be of the type number"},
		{"b", `"true"`, "field_value must be of the type boolean"}, {"b", `1`, "field_value must be of the type boolean"},
		{"d", `"03.02.2026"`, "field_value must be of the type date"},
		{"dt", `"2026-02-03T10:00:00.000Z"`, "field_value must be of the type datetime"},
		{"dt", `"2026-02-03"`, "field_value must be of the type datetime"},
		{"none", `"x"`, "field with same name not found"},
	}
	for _, tt := range bad {
		a.wantAnswer("/fb/subscriber/setCustomFieldByName", set(tt.field, tt.value), invalid(tt.want))
	}
	a.wantAnswer("/fb/subscriber/setCustomFieldByName", `{"subscriber_id":"`+id+`","field_name":"t"}`, invalid("field_value is required"))

	// In an action of a Dynamic Block a datetime has the other form.
	for value, ok := range map[string]bool{"2026-02-03T10:00:00.000Z": true, "2026-02-03T10:00:00+03:00": false} {
		b := `{"version":"v2","content":{"type":"whatsapp","messages":[],"actions":[{"action":"set_field_value","field_name":"DT","value":"` + value + `"}]}}`
		if err := a.EditContact(id, func(c *manychattest.Contact) { c.LastInteraction = time.Now() }); err != nil {
			t.Fatal(err)
		}
		if got := a.api("/fb/sending/sendContent", `{"subscriber_id":"`+id+`","data":`+b+`}`); (got.status == 200) != ok {
			t.Errorf("%s in an action: got %+v", value, got)
		}
	}
	many := strings.TrimSuffix(strings.Repeat(`{"field_name":"T","field_value":"x"},`, 21), ",")
	a.wantAnswer("/fb/subscriber/setCustomFields", `{"subscriber_id":"`+id+`","fields":[`+many+`]}`, invalid("fields must hold at most 20 elements"))
	one := `{"subscriber_id":"` + id + `","fields":[{"field_name":"T","field_value":"kept?"},{"field_name":"N","field_value":"x"}]}`
	a.wantAnswer("/fb/subscriber/setCustomFields", one, invalid("field_value must be of the type number"))
	if got := a.contact(id).Fields["T"]; got != nil {
		t.Errorf("one bad field of several, and %v was written", got)
	}
}

// Holds the bodies of 2.5 and 2.6 that name what is unknown.
func TestUnknownThings(t *testing.T) {
	a := open(t, nil, func(c *manychattest.Config) { c.Unlimited = true })
	id := a.add(manychattest.Contact{})
	gone := a.add(manychattest.Contact{Inactive: true})
	blocked := a.add(manychattest.Contact{Blocked: true, LastInteraction: time.Now()})
	a.RegisterUserRef("55")
	a.DefineFlow(manychattest.Flow{NS: "content1"})
	rows := []struct {
		path, body string
		want       answer
	}{
		{"/fb/subscriber/getInfo?subscriber_id=1", "", refused("Subscriber does not exist")},
		{"/fb/subscriber/getInfo", "", invalid("subscriber_id is required")},
		{"/fb/subscriber/getInfo?subscriber_id=" + gone, "", refused("Subscriber is not active")},
		{"/fb/sending/sendFlow", `{"subscriber_id":"1","flow_ns":"content1"}`, refused("Subscriber does not exist")},
		{"/fb/sending/sendFlow", `{"subscriber_id":"` + id + `","flow_ns":"content2"}`, invalid("Wrong content provided.")},
		{"/fb/sending/sendFlow", `{"subscriber_id":"` + blocked + `","flow_ns":"content1"}`, answer{200, `{"status":"error","message":"Subscriber has blocked the page"}`}},
		{"/fb/sending/sendContent", `{"subscriber_id":"` + blocked + `","data":` + whatsapp("x") + `}`, answer{200, `{"status":"error","message":"Subscriber has blocked the page"}`}},
		{"/fb/subscriber/addTagByName", `{"subscriber_id":"` + id + `","tag_name":"none"}`, invalid("Wrong tag")},
		{"/fb/subscriber/addTag", `{"subscriber_id":"` + id + `","tag_id":"x"}`, invalid("tag_id must be an integer")},
		{"/fb/page/removeTag", `{"tag_id":99}`, invalid("Wrong tag")},
		{"/fb/page/setBotFieldByName", `{"field_name":"none","field_value":1}`, invalid("Wrong field")},
		{"/fb/subscriber/findByCustomField?field_id=99&field_value=x", "", invalid("Wrong field")},
		{"/fb/subscriber/findBySystemField?email=a@example.test&phone=1", "", invalid("one of email and phone is required")},
		{"/fb/subscriber/findBySystemField?email=a@example.test", "", answer{200, `{"status":"success","data":null}`}},
		{"/fb/subscriber/findByName?name=Nobody", "", answer{200, `{"status":"success","data":[]}`}},
		{"/fb/subscriber/getInfoByUserRef?user_ref=1", "", answer{400, `{"status":"error","message":"User ref is not registered","code":2011}`}},
		{"/fb/subscriber/getInfoByUserRef?user_ref=55", "", answer{400, `{"status":"error","message":"User ref is not linked to a subscriber yet","code":2012}`}},
		{"/fb/subscriber/createSubscriber", `{"first_name":"Bo"}`, invalid("phone, whatsapp_phone or email is required")},
		{"/fb/subscriber/createSubscriber", `{"phone":"+1"}`, invalid("has_opt_in_sms is required with phone")},
		{"/fb/subscriber/createSubscriber", `{"email":"b@example.test"}`, invalid("has_opt_in_email is required with email")},
		{"/fb/subscriber/createSubscriber", `{"phone":"+1","has_opt_in_sms":true}`, invalid("consent_phrase is required with has_opt_in_sms")},
		{"/fb/page/createCustomField", `{"caption":"x","type":"array"}`, invalid("Wrong field type")},
	}
	for _, row := range rows {
		a.wantAnswer(row.path, row.body, row.want)
	}
	for _, c := range a.Calls() {
		if c.Done && c.Status == 400 {
			t.Errorf("a refused call counts as done: %+v", c)
		}
	}
}

// Holds 2.2: "newest field update first", and at most 100.
func TestFindByCustomField(t *testing.T) {
	a := open(t, nil, func(c *manychattest.Config) { c.Unlimited = true })
	fid := a.field("city", phone.Text)
	for i := range 102 {
		a.add(manychattest.Contact{ID: fmt.Sprint(5000 + i)})
	}
	for i := range 102 {
		a.wantOK("/fb/subscriber/setCustomField", fmt.Sprintf(`{"subscriber_id":%d,"field_id":%d,"field_value":"Lima"}`, 5000+(i+50)%102, fid))
	}
	var got struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(a.wantOK(fmt.Sprintf("/fb/subscriber/findByCustomField?field_id=%d&field_value=Lima", fid), "")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Data) != 100 || got.Data[0].ID != "5049" || got.Data[1].ID != "5048" {
		t.Errorf("got %d, first %v", len(got.Data), got.Data[:2])
	}
}

// Holds "No endpoint for contact listing, history or delivery status": there are 34
// operations and nothing else.
func TestOperationsAreCounted(t *testing.T) {
	a := open(t, nil)
	known := 0
	for _, path := range strings.Fields(operations) {
		for _, body := range []string{"", "{}"} {
			if a.api(path, body).status != http.StatusNotFound {
				known++
			}
		}
	}
	if known != 34 {
		t.Errorf("got %d operations", known)
	}
}

const operations = `/fb/page/getInfo /fb/page/getTags /fb/page/createTag /fb/page/removeTag /fb/page/removeTagByName
/fb/page/getCustomFields /fb/page/createCustomField /fb/page/getBotFields /fb/page/createBotField /fb/page/setBotField
/fb/page/setBotFieldByName /fb/page/setBotFields /fb/page/getFlows /fb/page/getGrowthTools /fb/page/getWidgets
/fb/page/getOtnTopics /fb/sending/sendContent /fb/sending/sendContentByUserRef /fb/sending/sendFlow
/fb/subscriber/getInfo /fb/subscriber/findByName /fb/subscriber/getInfoByUserRef /fb/subscriber/findByCustomField
/fb/subscriber/findBySystemField /fb/subscriber/addTag /fb/subscriber/removeTag /fb/subscriber/addTagByName
/fb/subscriber/removeTagByName /fb/subscriber/setCustomField /fb/subscriber/setCustomFieldByName
/fb/subscriber/setCustomFields /fb/subscriber/verifyBySignedRequest /fb/subscriber/createSubscriber
/fb/subscriber/updateSubscriber`

// Holds 2.2: page/removeTag takes the tag from the account and from every contact.
func TestRemovedTagLeavesEveryContact(t *testing.T) {
	a := open(t, nil)
	a.tag("lead")
	a.tag("vip")
	both := manychattest.Contact{Tags: []string{"lead", "vip"}}
	ids := []string{a.add(both), a.add(both)}
	a.wantOK("/fb/page/removeTagByName", `{"tag_name":"lead"}`)
	for _, id := range ids {
		if diff := cmp.Diff([]string{"vip"}, a.contact(id).Tags); diff != "" {
			t.Errorf("contact %s: %s", id, diff)
		}
	}
}

// Holds 3.1: findByName compares the full name with case.
func TestFindByNameKeepsCase(t *testing.T) {
	a := open(t, nil)
	id := a.add(manychattest.Contact{FirstName: "Ada", LastName: "Park"})
	a.add(manychattest.Contact{FirstName: "ada", LastName: "park"})
	got := a.wantOK("/fb/subscriber/findByName?name=Ada+Park", "")
	if strings.Count(got, `"page_id"`) != 1 || !strings.Contains(got, `"id":"`+id+`"`) {
		t.Errorf("got %s", got)
	}
	a.wantAnswer("/fb/subscriber/findByName?name=ADA+PARK", "", answer{200, `{"status":"success","data":[]}`})
}
