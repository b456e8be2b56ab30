package manychattest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// content is the body of sendContent; kind is content.type, left out when empty.
func content(id, kind, rest string) string {
	if kind != "" {
		kind = `"type":"` + kind + `",`
	}
	return `{"subscriber_id":"` + id + `","data":{"version":"v2","content":{` + kind + rest + `}}}`
}

const oneText = `"messages":[{"type":"text","text":"hello"}]`

func window(code int, reason string, hours int) answer {
	return answer{400, fmt.Sprintf(`{"status":"error","message":"Message can not be sent without a %s: last interaction over %dh ago","code":%d}`, reason, hours, code)}
}

// Holds docs/reference/manychat-platform.md, section 7, "Window check per
// content.type: missing type means Messenger window. WhatsApp/Messenger 3011,
// Instagram 3031", and "400 with code for 304X".
func TestWindowOfSendContent(t *testing.T) {
	const silent, tag, notice = 25 * time.Hour, "message tag", "Notification Reason"
	ok := answer{200, `{"status":"success"}`}
	tests := []struct {
		name    string
		channel manychat.Channel
		kind    string
		after   time.Duration
		want    answer
	}{
		{"whatsapp, open", manychat.WhatsApp, "whatsapp", 24*time.Hour - 1, ok},
		{"whatsapp, closed", manychat.WhatsApp, "whatsapp", silent, window(3011, tag, 25)},
		{"whatsapp, to the second", manychat.WhatsApp, "whatsapp", 24 * time.Hour, window(3011, tag, 24)},
		{"whatsapp without a type is judged as Messenger", manychat.WhatsApp, "", time.Minute, window(3011, tag, 19521)},
		{"messenger, open", manychat.Messenger, "", time.Hour, ok},
		{"messenger, closed", manychat.Messenger, "", silent, window(3011, tag, 25)},
		{"instagram, open", manychat.Instagram, "instagram", time.Hour, ok},
		{"instagram, closed", manychat.Instagram, "instagram", silent, window(3031, notice, 25)},
		{"telegram has no window", manychat.Telegram, "telegram", silent, ok},
		{"another channel", manychat.WhatsApp, "instagram", time.Minute, answer{400, `{"status":"error","message":"Can not send message through instagram channel","code":3040}`}},
		{"unknown type", manychat.WhatsApp, "fax", time.Minute, refused("Wrong dynamic message format: unknown content type")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := open(t, nil)
				id := a.add(manychattest.Contact{Channel: tt.channel})
				a.send(id, "hi")
				time.Sleep(tt.after)
				a.wantAnswer("/fb/sending/sendContent", content(id, tt.kind, oneText), tt.want)
				if shown := len(a.texts(id)); (shown == 1) != (tt.want.status == 200) {
					t.Errorf("%d messages were shown", shown)
				}
				if shown := a.Chat(id)[1:]; len(shown) == 1 && shown[0].Via != phone.ViaContent {
					t.Errorf("shown via %s", shown[0].Via)
				}
			})
		})
	}
}

// Holds "Any message_tag -> 400", with the two observed bodies.
func TestMessageTagsAreRefused(t *testing.T) {
	a := open(t, nil)
	for ch, want := range map[manychat.Channel]answer{
		manychat.WhatsApp:  invalid("Message tags are no longer supported"),
		manychat.Instagram: refused("Unsupported message tag"),
	} {
		id := a.add(manychattest.Contact{Channel: ch, LastInteraction: time.Now()})
		body := strings.TrimSuffix(content(id, string(ch), oneText), "}") + `,"message_tag":"HUMAN_AGENT"}`
		a.wantAnswer("/fb/sending/sendContent", body, want)
	}
}

// Holds "400 with code for 3021": one token for a topic lets one message out of the
// window.
func TestOneTimeNotification(t *testing.T) {
	a := open(t, nil)
	id := a.add(manychattest.Contact{Channel: manychat.Messenger, OTNTopics: []string{"news"}})
	body := strings.TrimSuffix(content(id, "", oneText), "}") + `,"otn_topic_name":"news"}`
	a.wantOK("/fb/sending/sendContent", body)
	a.wantAnswer("/fb/sending/sendContent", body, answer{400, `{"status":"error","message":"There is no one-time notification token for this topic","code":3021}`})
}

// Holds "all-or-nothing rejection with the observed text" and "unknown field ->
// reject whole request".
func TestSendContentIsAllOrNothing(t *testing.T) {
	a := open(t, nil)
	a.tag("lead")
	id := a.add(manychattest.Contact{LastInteraction: time.Now()})
	long := `"messages":[{"type":"text","text":"fine"},{"type":"text","text":"` + strings.Repeat("x", 2001) + `"}]`
	a.wantAnswer("/fb/sending/sendContent", content(id, "whatsapp", long), refused("Wrong dynamic message format: Provided text is longer than 2000 symbols"))
	unknown := oneText + `,"actions":[{"action":"add_tag","tag_name":"lead"},{"action":"set_field_value","field_name":"none","value":"x"}]`
	a.wantAnswer("/fb/sending/sendContent", content(id, "whatsapp", unknown), refused("Wrong dynamic message format: field with same name not found"))
	a.wantAnswer("/fb/sending/sendContent", `{"subscriber_id":"`+id+`"}`, invalid("data is required"))
	if c := a.contact(id); len(a.Chat(id)) != 0 || len(c.Tags) != 0 {
		t.Errorf("something of a refused request was done: %+v", c)
	}
	a.wantOK("/fb/sending/sendContent", content(id, "whatsapp", strings.Replace(long, "xx", "x", 1)))
	if n := len(a.Chat(id)); n != 2 {
		t.Errorf("2000 characters must pass, %d messages were shown", n)
	}
}

// Holds 1.6: "sendContentByUserRef does not process actions at all".
func TestUserRefIgnoresActions(t *testing.T) {
	a := open(t, nil)
	a.tag("lead")
	id := a.add(manychattest.Contact{UserRef: "12", LastInteraction: time.Now()})
	data := strings.TrimPrefix(content(id, "whatsapp", oneText+`,"actions":[{"action":"add_tag","tag_name":"lead"}]`), `{"subscriber_id":"`+id+`"`)
	a.wantOK("/fb/sending/sendContentByUserRef", `{"user_ref":12`+data)
	calls := a.Calls()
	if c := a.contact(id); len(c.Tags) != 0 || len(calls[0].Warnings) != 1 {
		t.Errorf("got %v, %+v", c.Tags, calls)
	}
}

// Holds "Make WhatsApp image a setting, default delivered for sendContent", and
// inline the other way.
func TestWhatsAppImages(t *testing.T) {
	image := `"messages":[{"type":"image","url":"https://cdn.example.test/a.png"}]`
	for set, want := range map[manychattest.Switch][2]int{
		manychattest.Auto: {1, 0}, manychattest.On: {1, 1}, manychattest.Off: {0, 0},
	} {
		inline := `{"version":"v2","content":{"type":"whatsapp",` + image + `}}`
		a := open(t, reply(inline), func(c *manychattest.Config) { c.Settings.WhatsAppImages = set })
		id := a.add(manychattest.Contact{})
		ex := a.send(id, "hi")
		a.wantOK("/fb/sending/sendContent", content(id, "whatsapp", image))
		byAPI := len(a.texts(id)) - len(ex.Shown)
		if diff := cmp.Diff(want, [2]int{byAPI, len(ex.Shown)}); diff != "" {
			t.Errorf("%q: %s", set, diff)
		}
		if (len(ex.Warnings) == 0) != (want[1] == 1) {
			t.Errorf("%q: warnings %v", set, ex.Warnings)
		}
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": on WhatsApp the first of several inline messages was seen to arrive.
func TestOnlyTheFirstInlineMessageArrivesOnWhatsApp(t *testing.T) {
	two := `{"version":"v2","content":{"type":"whatsapp","messages":[{"type":"text","text":"1"},{"type":"text","text":"2"}]}}`
	for set, want := range map[int][]string{0: {"1"}, -1: {"1", "2"}, 2: {"1", "2"}} {
		a := open(t, reply(two), func(c *manychattest.Config) { c.Settings.InlineMessages = set })
		id := a.add(manychattest.Contact{})
		a.send(id, "hi")
		if diff := cmp.Diff(want, a.texts(id)); diff != "" {
			t.Errorf("%d: %s", set, diff)
		}
	}
}

// Holds "Rate limits per endpoint (lower figure), 100 sendFlow per contact per hour,
// optional 24 h block".
func TestRateLimits(t *testing.T) {
	tests := []struct {
		path, body string
		perSecond  int
	}{
		{"/fb/sending/sendFlow", `{"subscriber_id":"%s","flow_ns":"content1"}`, 20},
		{"/fb/sending/sendContent", `{"subscriber_id":"%s"}`, 25},
		{"/fb/subscriber/getInfo?subscriber_id=%s", "", 10},
		{"/fb/subscriber/findByName?name=x", "", 10},
		{"/fb/subscriber/findBySystemField?phone=1", "", 50},
		{"/fb/subscriber/setCustomFieldByName", `{}`, 10},
		{"/fb/page/getTags", "", 100},
		{"/fb/page/getFlows", "", 10},
		{"/fb/page/createTag", `{}`, 10},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := open(t, nil)
				a.DefineFlow(manychattest.Flow{NS: "content1"})
				id := a.add(manychattest.Contact{})
				path, body := strings.ReplaceAll(tt.path, "%s", id), strings.ReplaceAll(tt.body, "%s", id)
				passed := func() int {
					for n := range 200 {
						if a.api(path, body).status == 429 {
							return n
						}
					}
					return 200
				}
				if n := passed(); n != tt.perSecond {
					t.Errorf("%d passed", n)
				}
				time.Sleep(time.Second)
				if n := passed(); n != tt.perSecond {
					t.Errorf("%d passed a second later", n)
				}
			})
		})
	}
}

func TestHundredFlowsPerContactAndHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, nil, func(c *manychattest.Config) { c.Settings.BlockAfterLimit = 24 * time.Hour })
		a.DefineFlow(manychattest.Flow{NS: "content1"})
		id, other := a.add(manychattest.Contact{}), a.add(manychattest.Contact{})
		body := `{"subscriber_id":"%s","flow_ns":"content1"}`
		for range 100 {
			a.wantOK("/fb/sending/sendFlow", fmt.Sprintf(body, id))
			time.Sleep(time.Second)
		}
		a.wantOK("/fb/sending/sendFlow", fmt.Sprintf(body, other))
		a.wantAnswer("/fb/sending/sendFlow", fmt.Sprintf(body, id), answer{429, `{"status":"error","message":"Too many requests"}`})
		time.Sleep(23 * time.Hour)
		a.wantAnswer("/fb/page/getTags", "", answer{429, `{"status":"error","message":"Too many requests"}`})
		time.Sleep(time.Hour)
		a.wantOK("/fb/sending/sendFlow", fmt.Sprintf(body, id))
	})
}
