package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// bearer is the header of a caller who holds the deployment's secret.
func bearer(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

// tell is a request to dev's program of somebody who holds the secret.
func (r *rig) tell(body string, headers ...string) (*http.Response, string) {
	r.t.Helper()
	return r.post(inbound.MessagePath, body, append(headers, bearer(devSecret)...)...)
}

// Holds docs/spec/02-inbound.md, "Order of checks": only the whole secret under the scheme
// Bearer opens, whatever else a request says, and a refusal teaches nothing.
func TestWhoMayCall(t *testing.T) {
	tests := []struct {
		name    string
		headers []string
		want    int
	}{
		{"no header", nil, 401},
		{"the secret", bearer(newSecret), 200},
		{"the scheme in small letters", []string{"Authorization", "bearer " + newSecret}, 200},
		{"another scheme", []string{"Authorization", "Basic " + newSecret}, 401},
		{"no scheme", []string{"Authorization", newSecret}, 401},
		{"the scheme alone", []string{"Authorization", "Bearer "}, 401},
		{"one letter less", bearer(newSecret[:len(newSecret)-1]), 401},
		{"one letter more", bearer(newSecret + "x"), 401},
		{"in capitals", bearer(strings.ToUpper(newSecret)), 401},
		{"both secrets, as the variable holds them", bearer(newSecret + "," + oldSecret), 401},
		{"the header twice", append(bearer(newSecret), bearer(newSecret)...), 401},
		{"the header twice, one of them wrong", append(bearer("wrong"), bearer(newSecret)...), 401},
		{"under another name", []string{"X-Authorization", "Bearer " + newSecret}, 401},
		{"in the form of a token", []string{"Proxy-Authorization", "Bearer " + newSecret}, 401},
		{"no secret, and a type that is refused", []string{"Content-Type", "text/plain"}, 401},
	}
	deployed(t, setup{}, nil, func(d *deployment) {
		for _, tt := range tests {
			for _, path := range []string{inbound.MessagePath, inbound.ContactPath} {
				for _, body := range []string{bodyFor(path), `{"text":`} {
					want := tt.want
					if want == http.StatusOK && body != bodyFor(path) {
						want = http.StatusBadRequest
					}
					resp, answer := d.post(path, body, tt.headers...)
					if resp.StatusCode != want {
						t.Errorf("%s: %s answers %d %s, want %d", tt.name, path, resp.StatusCode, answer, want)
					}
					if got := resp.Header.Get("Cache-Control"); got != "no-store" {
						t.Errorf("%s: an answer may be kept: Cache-Control is %q", tt.name, got)
					}
					if want == http.StatusUnauthorized && (strings.Contains(answer, "text") || strings.Contains(answer, "subscriber") || !resp.Close) {
						t.Errorf("%s: a stranger is told %s, connection closed: %v", tt.name, answer, resp.Close)
					}
				}
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Order of checks": who is charged behind proxies, and which
// addresses are one.
func TestWhoIsCharged(t *testing.T) {
	peer := func(address string) []string { return []string{address, ""} }
	tests := []struct {
		name    string
		callers [][]string // peer and X-Forwarded-For of guesses, with a budget of one
		want    []int
	}{
		{"what stands left of the client", [][]string{{"10.1.2.3:1", "192.0.2.7, 198.51.100.1"}, {"10.1.2.3:1", "192.0.2.8, 198.51.100.1"}}, []int{401, 429}},
		{"a chain of trusted proxies", [][]string{{"10.1.2.3:1", "192.0.2.7, 10.9.9.9"}, {"10.1.2.3:1", "192.0.2.8, 10.9.9.9"}}, []int{401, 401}},
		{"an entry that is no address", [][]string{{"10.1.2.3:1", "192.0.2.7, nonsense"}, {"10.1.2.3:1", "192.0.2.8, nonsense"}}, []int{401, 429}},
		{"a trusted proxy for another client", [][]string{{"10.1.2.3:1", "192.0.2.7"}, {"10.4.5.6:1", "192.0.2.7"}}, []int{401, 429}},
		{"another port of an address", [][]string{peer("192.0.2.7:1"), peer("192.0.2.7:2")}, []int{401, 429}},
		{"one network of IPv6", [][]string{peer("[2001:db8:1:2::1]:1"), peer("[2001:db8:1:2:ffff::9]:1")}, []int{401, 429}},
		{"two networks of IPv6", [][]string{peer("[2001:db8:1:2::1]:1"), peer("[2001:db8:1:3::1]:1")}, []int{401, 401}},
		{"IPv4 written as IPv6", [][]string{peer("192.0.2.7:1"), peer("[::ffff:192.0.2.7]:1")}, []int{401, 429}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			deployed(t, setup{env: []string{"INBOUND_RPM=1", "TRUST_PROXY=10.0.0.0/8"}}, nil, func(d *deployment) {
				var got []int
				for _, c := range tt.callers {
					d.http.CloseIdleConnections()
					d.from(c[0])
					var headers []string
					if c[1] != "" {
						headers = []string{"X-Forwarded-For", c[1]}
					}
					resp, _ := d.post(inbound.MessagePath, `{}`, headers...)
					got = append(got, resp.StatusCode)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// padded is a body of a size.
func padded(size int) string {
	body := bodyFor(inbound.MessagePath)
	return body + strings.Repeat(" ", size-len(body))
}

// Holds docs/spec/02-inbound.md, "Order of checks": the size and the type of a body.
func TestBodiesThatAreTaken(t *testing.T) {
	tests := []struct {
		name, body string
		headers    []string
		want       int
	}{
		{"64 KiB", padded(64 << 10), nil, 200},
		{"a byte more", padded(64<<10 + 1), nil, 413},
		{"JSON with a character set", padded(100), []string{"Content-Type", "application/json; charset=utf-8"}, 200},
		{"a kind of JSON", padded(100), []string{"Content-Type", "application/vnd.manychat+json"}, 200},
		{"text", padded(100), []string{"Content-Type", "text/plain"}, 415},
		{"a form", padded(100), []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"a type that is none", padded(100), []string{"Content-Type", "json"}, 415},
		{"an empty type", padded(100), []string{"Content-Type", ""}, 415},
		{"JSON, and text as well", padded(100), []string{"Content-Type", "application/json", "Content-Type", "text/plain"}, 415},
		{"compressed", padded(100), []string{"Content-Encoding", "br"}, 415},
	}
	deployed(t, setup{}, nil, func(d *deployment) {
		for _, tt := range tests {
			resp, answer := d.post(inbound.MessagePath, tt.body, append(tt.headers, bearer(newSecret)...)...)
			if resp.StatusCode != tt.want {
				t.Errorf("%s: answered %d %s, want %d", tt.name, resp.StatusCode, answer, tt.want)
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Order of checks" and "Request body": a body that breaks a
// rule is refused with its key named, is not repaired, and begins no turn.
func TestBodiesThatAreRefused(t *testing.T) {
	long := strings.Repeat("x", 257)
	tests := []struct{ name, body, key string }{
		{"an unknown key", `{"subscriber_id":"900000001","text":"hello","extra":"x"}`, "extra"},
		{"a key in another case", `{"subscriber_id":"900000001","Text":"hello"}`, "Text"},
		{"a duplicate key", `{"subscriber_id":"900000001","text":"hello","text":"again"}`, "text"},
		{"a duplicate id", `{"subscriber_id":"900000001","subscriber_id":"900000002","text":"hello"}`, "subscriber_id"},
		{"a number for a text", `{"subscriber_id":"900000001","text":5}`, "text"},
		{"an object for a text", `{"subscriber_id":"900000001","text":{}}`, "text"},
		{"true for a channel", `{"subscriber_id":"900000001","text":"hello","channel":true}`, "channel"},
		{"a number for a token", `{"subscriber_id":"900000001","text":"hello","ai_token":1}`, "ai_token"},
		{"no text", `{"subscriber_id":"900000001"}`, "text"},
		{"null for a text", `{"subscriber_id":"900000001","text":null}`, "text"},
		{"no id", `{"text":"hello"}`, "subscriber_id"},
		{"null for an id", `{"subscriber_id":null,"text":"hello"}`, "subscriber_id"},
		{"an empty id", `{"subscriber_id":"","text":"hello"}`, "subscriber_id"},
		{"true for an id", `{"subscriber_id":true,"text":"hello"}`, "subscriber_id"},
		{"letters in an id", `{"subscriber_id":"90000000a","text":"hello"}`, "subscriber_id"},
		{"other digits in an id", `{"subscriber_id":"९०००","text":"hello"}`, "subscriber_id"},
		{"space around an id", `{"subscriber_id":" 900000001","text":"hello"}`, "subscriber_id"},
		{"an id of 33 digits", `{"subscriber_id":"` + strings.Repeat("9", 33) + `","text":"hello"}`, "subscriber_id"},
		{"a sign", `{"subscriber_id":-900000001,"text":"hello"}`, "subscriber_id"},
		{"a fraction", `{"subscriber_id":900000001.0,"text":"hello"}`, "subscriber_id"},
		{"an exponent", `{"subscriber_id":9e8,"text":"hello"}`, "subscriber_id"},
		{"a token that is too long", `{"subscriber_id":"900000001","text":"hello","ai_token":"` + long + `"}`, "ai_token"},
		{"an offering that is too long", `{"subscriber_id":"900000001","text":"hello","offering":"` + long + `"}`, "offering"},
		{"a course that is too long", `{"subscriber_id":"900000001","text":"hello","course":"` + long + `"}`, "course"},
		{"a list", `["subscriber_id","text"]`, ""},
		{"a string", `"hello"`, ""},
		{"nothing", ``, ""},
		{"not UTF-8", "{\"subscriber_id\":\"900000001\",\"text\":\"a\xffb\"}", ""},
	}
	ear := &listener{}
	inBubble(t, func(r *rig) {
		for _, tt := range tests {
			resp, answer := r.tell(tt.body)
			var said struct{ Key string }
			if err := json.Unmarshal([]byte(answer), &said); err != nil || resp.StatusCode != http.StatusBadRequest || said.Key != tt.key {
				t.Errorf("%s: answered %d %s, want 400 with the key %q", tt.name, resp.StatusCode, answer, tt.key)
			}
			if got := resp.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("%s: Cache-Control is %q", tt.name, got)
			}
		}
		if ear.calls() != 0 {
			t.Errorf("refused bodies made %d calls of the model", ear.calls())
		}
		for _, id := range []string{"900000001", "900000002"} {
			if turns, err := r.Turns.Recent(context.Background(), id, 1); err != nil || len(turns) != 0 {
				t.Errorf("refused bodies left turns: %v, %v", turns, err)
			}
		}
	}, setup{model: ear})
}

// Holds docs/spec/02-inbound.md, "Request body": Full Contact Data is refused for its id and
// its form alone.
func TestFullContactDataThatIsRefused(t *testing.T) {
	nested := func(depth int) string {
		return `{"id":"900000001","last_input_text":"hello","x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
	}
	tests := []struct {
		name, body string
		want       int
		key        string
	}{
		{"whatever else it holds", `{"id":"900000001","last_input_text":"hello","tags":[{}],"ig_id":5,"last_input_text2":null}`, 200, ""},
		{"an id as a number", `{"id":900000001,"last_input_text":"hello"}`, 200, ""},
		{"no text", `{"id":"900000001"}`, 200, ""},
		{"no id", `{"last_input_text":"hello"}`, 400, "id"},
		{"two ids", `{"id":"900000001","last_input_text":"hello","id":"900000002"}`, 400, "id"},
		{"an exponent", `{"id":9e8,"last_input_text":"hello"}`, 400, "id"},
		{"an unrendered id", `{"id":"{{user_id}}","last_input_text":"hello"}`, 400, "id"},
		{"not JSON", `{"id":"900000001","last_input_text":"say "hi""}`, 400, ""},
		{"not UTF-8", "{\"id\":\"900000001\",\"last_input_text\":\"a\xffb\"}", 400, ""},
		{"nested to the limit", nested(64), 200, ""},
		{"nested deeper", nested(65), 400, ""},
	}
	deployed(t, setup{}, nil, func(d *deployment) {
		for _, tt := range tests {
			resp, answer := d.post(inbound.ContactPath, tt.body, bearer(newSecret)...)
			var said struct{ Key string }
			if err := json.Unmarshal([]byte(answer), &said); err != nil || resp.StatusCode != tt.want || said.Key != tt.key {
				t.Errorf("%s: answered %d %s, want %d with the key %q", tt.name, resp.StatusCode, answer, tt.want, tt.key)
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Request body": every digit of an id is kept, whichever way
// it is written.
func TestEveryDigitOfAnID(t *testing.T) {
	inBubble(t, func(r *rig) {
		for written, id := range map[string]string{
			`9007199254740993`: "9007199254740993", `"9007199254740995"`: "9007199254740995",
			`"00042"`: "00042", strings.Repeat("9", 32): strings.Repeat("9", 32),
		} {
			r.tell(`{"subscriber_id":` + written + `,"text":"hello"}`)
			if got := r.newest(id); got.Text != "hello" {
				t.Errorf("the contact %s wrote %q", id, got.Text)
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Request body": a text that is too long is cut, and said to be.
func TestLongTextsAreCut(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		for _, c := range []struct {
			letter string
			length int
			want   []string
		}{{"a", 4096, nil}, {"ä", 4097, []string{"text_truncated"}}, {"🎨", 6000, []string{"text_truncated"}}} {
			id := "90000000" + fmt.Sprint(len(c.letter))
			r.tell(`{"subscriber_id":"` + id + `","text":"` + strings.Repeat(c.letter, c.length) + `"}`)
			got := r.newest(id)
			if got.Text != strings.Repeat(c.letter, 4096) || !slices.Equal(got.Interventions, c.want) {
				t.Errorf("%d times %s: kept %d characters, interventions %v, want %v", c.length, c.letter, len([]rune(got.Text)), got.Interventions, c.want)
			}
			if !strings.Contains(ear.last(), got.Text) || strings.Contains(ear.last(), got.Text+c.letter) {
				t.Errorf("%d times %s: the model read more or less than 4096 characters", c.length, c.letter)
			}
		}
	}, setup{model: ear})
}

// Holds docs/spec/02-inbound.md, "Request body": a message without words is answered as media.
func TestNothingToRead(t *testing.T) {
	const fallback = "I could not open what you sent. Could you write it to me in a few words?"
	ear := &listener{}
	deployed(t, setup{model: ear}, nil, func(d *deployment) {
		for i, body := range []string{`"text":""`, `"text":" \n\t "`, `"text":"{{last_input_text}}"`, `"text":"\u200b\u0007"`} {
			_, answer := d.post(inbound.MessagePath, fmt.Sprintf(`{"subscriber_id":"90000000%d",%s}`, i, body), bearer(newSecret)...)
			if !strings.Contains(answer, fallback) {
				t.Errorf("%s is answered %s", body, answer)
			}
		}
		if _, answer := d.post(inbound.ContactPath, `{"id":"900000009","last_input_text":null}`, bearer(newSecret)...); !strings.Contains(answer, fallback) {
			t.Errorf("a contact without a last text is answered %s", answer)
		}
		if ear.calls() != 0 {
			t.Errorf("%d calls of the model", ear.calls())
		}
	})
}

// Holds docs/spec/02-inbound.md, "Request body": which offering a request names.
func TestOfferingOfTheRequest(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"offering", `"offering":"wheel_course"`, "wheel_course"},
		{"course", `"course":"glaze_weekend"`, "glaze_weekend"},
		{"both", `"course":"glaze_weekend","offering":"wheel_course"`, "wheel_course"},
		{"an unrendered offering beside a course", `"offering":"{{agent_course}}","course":"glaze_weekend"`, "glaze_weekend"},
		{"an empty offering beside a course", `"offering":"","course":"glaze_weekend"`, "glaze_weekend"},
		{"null", `"offering":null`, ""},
		{"unknown", `"offering":"flying_lessons"`, ""},
		{"unrendered", `"offering":"{{agent_course}}"`, ""},
	}
	ear := &listener{}
	deployed(t, setup{model: ear}, nil, func(d *deployment) {
		check := func(name, want string) {
			t.Helper()
			_, after, found := strings.Cut(ear.last(), "OFFERING: ")
			got, _, _ := strings.Cut(after, "\n")
			if found != (want != "") || got != want {
				t.Errorf("%s: the model is told the offering %q, want %q", name, got, want)
			}
		}
		for i, tt := range tests {
			d.post(inbound.MessagePath, fmt.Sprintf(`{"subscriber_id":"90000000%d","text":"hello",%s}`, i, tt.body), bearer(newSecret)...)
			check(tt.name, tt.want)
		}
		d.post(inbound.ContactPath, `{"id":"900000009","last_input_text":"hello","custom_fields":{"agent_course":"hand_building"}}`, bearer(newSecret)...)
		check("Full Contact Data", "hand_building")
		d.post(inbound.ContactPath, `{"id":"900000009","last_input_text":"hello","custom_fields":{"agent_course":"flying_lessons"}}`, bearer(newSecret)...)
		check("an unknown one behind a known one", "hand_building")
	})
}

// Holds docs/spec/02-inbound.md, "Request body": names and languages are nowhere, unless the
// tenant uses the first name: then that one alone is kept.
func TestNamesOfContacts(t *testing.T) {
	for _, uses := range []bool{false, true} {
		t.Run(fmt.Sprintf("useFirstName %v", uses), func(t *testing.T) {
			ear := &listener{}
			deployed(t, setup{model: ear, rules: func(r *tenant.Rules) { r.UseFirstName = uses }}, nil, func(d *deployment) {
				d.post(inbound.MessagePath, `{"subscriber_id":"900000001","text":"hello","first_name":"Zerbinetta","last_name":"Quillfeather","locale":"xx_QQ"}`, bearer(newSecret)...)
				d.post(inbound.ContactPath, `{"id":"900000002","last_input_text":"hello","first_name":"Zerbinetta","last_name":"Quillfeather","name":"Zerbinetta Quillfeather","locale":"xx_QQ","phone":"+49 170 5550199"}`, bearer(newSecret)...)
				time.Sleep(time.Minute)
				kept := d.kept()
				if got := strings.Contains(kept, "Zerbinetta"); got != uses {
					t.Errorf("the database holds the first name: %v", got)
				}
				for _, private := range []string{"Quillfeather", "xx_QQ", "5550199"} {
					if strings.Contains(kept, private) || strings.Contains(ear.last(), private) {
						t.Errorf("%s was kept, or told the model", private)
					}
				}
				if !uses && strings.Contains(strings.Join(ear.asked, ""), "Zerbinetta") {
					t.Error("the model was told a name that the tenant does not use")
				}
			})
		})
	}
}

// kept is everything that is in the files of the database.
func (r *rig) kept() string {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.folder, "agent.db*"))
	if err != nil || len(files) == 0 {
		r.t.Fatal(files, err)
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}

// Holds docs/spec/02-inbound.md, "Request body": a body is repaired only when it is not JSON,
// and then the turn says so.
func TestRepairIsSaid(t *testing.T) {
	inBubble(t, func(r *rig) {
		if resp, answer := r.tell(`{"subscriber_id":"900000001","text":"say "hi""}`); resp.StatusCode != http.StatusOK {
			t.Errorf("answered %d %s", resp.StatusCode, answer)
		}
		if got := r.newest("900000001"); got.Text != `say "hi"` || !slices.Equal(got.Interventions, []string{"body_repaired"}) {
			t.Errorf("the turn holds %q and says %v", got.Text, got.Interventions)
		}
		for _, body := range []string{
			`{"text":"say "hi"","subscriber_id":"900000001","locale":"","subscriber_id":"900000002"}`,
			`{"subscriber_id":"90000000a","text":"say "hi""}`,
			`{"text":"say "hi""}`,
			`{"subscriber_id":"900000002","text":"` + strings.Repeat(`","text":"`, 600) + `"}`,
		} {
			if resp, answer := r.tell(body); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%.80s is answered %d %s", body, resp.StatusCode, answer)
			}
		}
		for _, body := range []string{`{"subscriber_id":"900000003","text":"half an emoji \ud83d"}`, `{"subscriber_id":"900000003","text":"a NUL \u0000"}`} {
			r.tell(body)
			got := r.newest("900000003")
			if !strings.HasSuffix(got.Text, " \uFFFD") || len(got.Interventions) != 0 {
				t.Errorf("%s is kept as %+q and says %v", body, got.Text, got.Interventions)
			}
			time.Sleep(3 * time.Second)
		}
	})
}

// Holds docs/spec/02-inbound.md, "Request body": what nobody sees hides no keyword and does
// not reach the model, and is stored as it was written.
func TestWhatNobodySees(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		for i, text := range []string{"re\u00adfund", "re\u200bfund", "re\u0007fund", "\u202erefund", "re\U000e0041fund"} {
			id := fmt.Sprint("90000001", i)
			r.tell(fmt.Sprintf(`{"subscriber_id":%q,"text":%s}`, id, asJSON(text)))
			if got := r.newest(id); got.Reason != "keyword" || got.Text != text {
				t.Errorf("%+q ended %s %s and is stored as %+q", text, got.Outcome, got.Reason, got.Text)
			}
		}
		const hidden, seen = "a wh\u200beel, cafe\u0301\u0007 \U000e0041and 👩\u200d🎨", "a wheel, café and 👩\u200d🎨"
		for range 2 {
			r.tell(fmt.Sprintf(`{"subscriber_id":"900000001","text":%s}`, asJSON(hidden)))
			time.Sleep(3 * time.Second)
		}
		if n := strings.Count(ear.last(), seen); n != 2 {
			t.Errorf("the message and its history are %d times what a reader sees:\n%+q", n, ear.last())
		}
		if got := r.newest("900000001").Text; got != hidden {
			t.Errorf("stored as %+q", got)
		}
	}, setup{model: ear})
}

func asJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Holds docs/deadlines.md, "Inbound": an idle connection is closed, and one whose caller does
// not read costs nobody their reply.
func TestCallersWhoStop(t *testing.T) {
	inBubble(t, func(r *rig) {
		body := `{"subscriber_id":"900000009","text":"hello"}`
		if got := r.sends(0, head(len(body), withSecret)+body); got != (ending{200, 2 * time.Minute}) {
			t.Errorf("an idle connection ended with %d after %s", got.status, got.after)
		}
		id := r.contact("900000001")
		r.write(id, "hello")
		time.Sleep(5 * time.Minute)
		conn := r.dial()
		defer conn.Close()
		body = fmt.Sprintf(`{"subscriber_id":%q,"text":%q}`, id, question)
		if _, err := io.WriteString(conn, head(len(body), withSecret)+body); err != nil {
			t.Fatal(err)
		}
		if got := r.phone(id, 5*time.Second); got[len(got)-1].Text != price || got[len(got)-1].Via != phone.ViaFlow {
			t.Errorf("a caller who did not read left the contact with %v", got)
		}
	})
}

// Holds docs/spec/02-inbound.md, "Order of checks": a body behind a refusal is read for a
// second, and then nobody is listened to.
func TestRefusedBodiesAreNotRead(t *testing.T) {
	trickle := strings.Split(strings.Repeat("x", 60), "")
	for _, c := range []struct{ name, head string }{
		{"no secret", head(1 << 20)},
		{"a type that is refused", head(1<<20, withSecret, "Content-Type: text/plain")},
		{"compressed", head(1<<20, withSecret, "Content-Encoding: gzip")},
		{"no such route", headTo("/nowhere", 1<<20)},
		{"another method", strings.Replace(head(1<<20), "POST", "PUT", 1)},
		{"a page that takes no body", strings.Replace(headTo("/health", 1<<20), "POST", "GET", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				got := r.sends(300*time.Millisecond, append([]string{c.head}, trickle...)...)
				if got.after > 1300*time.Millisecond || got.status == 0 {
					t.Errorf("ended with %d after %s", got.status, got.after)
				}
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating", and
// docs/spec/03-turn.md, "Steps": which of several guards answers.
func TestOrderOfGuards(t *testing.T) {
	const scripted, refused = "courses", "I want a refund"
	nobody := tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: []contact.SubscriberID{"900000009"}}
	limits := func(hourly, cap int) func(*tenant.Rules) {
		return func(r *tenant.Rules) {
			r.RateLimit.TurnsPerSubscriberPerHour, r.MaxTurnsPerConversation, r.EscalationQuietMinutes = hourly, cap, 0
		}
	}
	tests := []struct {
		name  string
		rules func(*tenant.Rules)
		text  string // written twice
		want  string // how the second ends
	}{
		{"audience before scripted", func(r *tenant.Rules) { r.Audience = nobody }, scripted, "paused silent"},
		{"audience before limits", func(r *tenant.Rules) { limits(1, 1)(r); r.Audience = nobody }, "hello", "paused silent"},
		{"scripted before limits", limits(1, 1), scripted, "answered_scripted inline"},
		{"hourly before cap", limits(1, 1), "hello", "escalated_precheck inline rate_limit"},
		{"hourly before media", limits(1, 9), "{{last_input_text}}", "escalated_precheck inline rate_limit"},
		{"cap before media", limits(9, 1), "", "escalated_precheck inline turn_cap"},
		{"cap before keywords", limits(9, 1), refused, "escalated_precheck inline turn_cap"},
		{"media before keywords", limits(9, 9), "{{a refund}}", "media_fallback inline"},
		{"keywords before the model", limits(9, 9), refused, "escalated_precheck inline keyword"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ear := &listener{}
			inBubble(t, func(r *rig) {
				for range 2 {
					r.tell(fmt.Sprintf(`{"subscriber_id":"900000001","text":%q}`, tt.text))
					time.Sleep(3 * time.Second)
				}
				if got := r.outcome("900000001"); got != tt.want {
					t.Errorf("ended %s, want %s", got, tt.want)
				}
			}, setup{model: ear, rules: tt.rules})
		})
	}
}
