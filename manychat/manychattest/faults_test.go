package manychattest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Holds docs/reference/manychat-platform.md, section 7, "Fault injection: slow
// success (over 20 s) that still delivers, false Subscriber does not exist that
// still delivers, 200 + error, HTML 5xx, success without delivery, 429", and
// docs/spec/13-sandbox.md, "The emulator": faults on demand.
func TestFaultsOfTheAPI(t *testing.T) {
	const ok = `{"status":"success"}`
	wrong := `{"status":"error","message":"Something went wrong"}`
	tests := []struct {
		fault     fault.Fault
		status    int // 0: no answer
		body      string
		delivered bool
		took      time.Duration
	}{
		{fault.Fault{Kind: fault.Latency, DelayMS: 1500}, 200, ok, true, 1500 * time.Millisecond},
		{fault.Fault{Kind: fault.SlowSuccess}, 200, ok, true, 21 * time.Second},
		{fault.Fault{Kind: fault.Timeout}, 0, "", false, 30 * time.Second},
		{fault.Fault{Kind: fault.RateLimited}, 429, `{"status":"error","message":"Too many requests"}`, false, 0},
		{fault.Fault{Kind: fault.ServerError}, 500, wrong, false, 0},
		{fault.Fault{Kind: fault.ServerError, Status: 503}, 503, wrong, false, 0},
		{fault.Fault{Kind: fault.ServerErrorHTML}, 502, "<html>", false, 0},
		{fault.Fault{Kind: fault.Dropped}, 0, "", false, 0},
		{fault.Fault{Kind: fault.LostAnswer}, 0, "", true, 0},
		{fault.Fault{Kind: fault.RefusedKey}, 401, `{"status":"error","message":"Wrong token"}`, false, 0},
		{fault.Fault{Kind: fault.OKWithError}, 200, wrong, false, 0},
		{fault.Fault{Kind: fault.SilentSuccess}, 200, ok, false, 0},
		{fault.Fault{Kind: fault.FalseMissing}, 400, refused("Subscriber does not exist").body, true, 0},
		{fault.Fault{Kind: fault.MissingFlow, Name: "content1"}, 400, invalid("Wrong content provided.").body, false, 0},
	}
	for _, tt := range tests {
		t.Run(string(tt.fault.Kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := open(t, nil)
				a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Text: "hello"}}})
				id := a.add(manychattest.Contact{LastInteraction: time.Now()})
				tt.fault.Path, tt.fault.Times = "/fb/sending/sendFlow", 1
				a.fault(tt.fault)
				a.wantOK("/fb/page/getTags", "") // another path is not hit

				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				body := `{"subscriber_id":"` + id + `","flow_ns":"content1"}`
				start := time.Now()
				got, err := a.call(ctx, "/fb/sending/sendFlow", body)
				if time.Since(start) != tt.took || got.status != tt.status || !strings.HasPrefix(got.body, tt.body) || (err != nil) != (tt.status == 0) {
					t.Errorf("after %v: %+v, %v", time.Since(start), got, err)
				}
				if delivered := len(a.Chat(id)) == 1; delivered != tt.delivered {
					t.Errorf("delivered: %v", delivered)
				}
				calls := a.Calls()
				last := calls[len(calls)-1]
				if last.Done != tt.delivered || last.Status != tt.status || (last.Fault == "") != (tt.fault.Kind == fault.Latency) {
					t.Errorf("logged %+v", last)
				}
				a.trigger(id, "content1") // it was for one call
			})
		})
	}
}

// Holds "HTML 5xx": a page, as a proxy before ManyChat answers it.
func TestHTMLErrorIsDeclaredAsHTML(t *testing.T) {
	a := open(t, nil)
	a.fault(manychattest.Fault{Kind: fault.ServerErrorHTML})
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/fb/page/getTags", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	a.ServeHTTP(w, r)
	if kind := w.Header().Get("Content-Type"); w.Code != http.StatusBadGateway || !strings.HasPrefix(kind, "text/html") {
		t.Errorf("got %d, %s", w.Code, kind)
	}
}

func TestBrokenConnectionIsRecognisable(t *testing.T) {
	a := open(t, nil)
	a.fault(manychattest.Fault{Kind: fault.Dropped})
	if _, err := a.call(context.Background(), "/fb/page/getTags", ""); !errors.Is(err, manychattest.ErrConnectionBroken) {
		t.Errorf("got %v", err)
	}
}

// Holds docs/spec/13-sandbox.md, "The emulator": dropped connections, over a real
// socket.
func TestBrokenConnectionOverASocket(t *testing.T) {
	a := open(t, nil)
	a.tag("lead")
	id := a.add(manychattest.Contact{})
	a.fault(manychattest.Fault{Kind: fault.LostAnswer})
	api := httptest.NewServer(a)
	t.Cleanup(api.Close)
	req := httptest.NewRequest("POST", api.URL+"/fb/subscriber/addTagByName", strings.NewReader(`{"subscriber_id":"`+id+`","tag_name":"lead"}`))
	req.RequestURI = ""
	req.Header.Set("Authorization", "Bearer "+token)
	if resp, err := api.Client().Do(req); err == nil {
		t.Errorf("got the status %d", resp.StatusCode)
	}
	if diff := cmp.Diff([]string{"lead"}, a.contact(id).Tags); diff != "" {
		t.Error(diff)
	}
}

// Holds docs/spec/13-sandbox.md, "The emulator": a renamed field or flow, in every
// place that names the field.
func TestRenamedField(t *testing.T) {
	a := open(t, reply(whatsapp("x", `"actions":[{"action":"set_field_value","field_name":"reply","value":"v"}]`)))
	fid := a.field("reply", phone.Text)
	a.field("other", phone.Text)
	id := a.add(manychattest.Contact{})
	a.fault(manychattest.Fault{Kind: fault.MissingField, Name: "reply"})
	for _, row := range []struct{ path, body string }{
		{"/fb/subscriber/setCustomFieldByName", `"field_name":"Reply","field_value":"x"`},
		{"/fb/subscriber/setCustomField", fmt.Sprintf(`"field_id":%d,"field_value":"x"`, fid)},
		{"/fb/subscriber/setCustomFields", `"fields":[{"field_name":"other","field_value":"x"},{"field_name":"reply","field_value":"x"}]`},
	} {
		a.wantAnswer(row.path, `{"subscriber_id":"`+id+`",`+row.body+`}`, invalid("field with same name not found"))
	}
	a.write(id, "other", "fine")
	if ex := a.send(id, "hi"); ex.Failure != phone.FailureRejected || !strings.Contains(ex.Reason, "field with same name not found") {
		t.Errorf("got %+v", ex)
	}
}

// Holds "Faults JSON-serialisable": what a page posts is what it reads back.
func TestFaultsAsJSON(t *testing.T) {
	const posted = `{"seed":7,"faults":[{"kind":"latency","delay_ms":200},{"kind":"server_error","path":"sendFlow","probability":0.5}]}`
	var f manychattest.Faults
	if err := json.Unmarshal([]byte(posted), &f); err != nil {
		t.Fatal(err)
	}
	a := open(t, nil)
	if err := a.SetFaults(f); err != nil {
		t.Fatal(err)
	}
	if got := jsonOf(t, a.Faults()); got != posted {
		t.Errorf("got %s", got)
	}
	if err := a.SetFaults(manychattest.Faults{Faults: []manychattest.Fault{{Kind: "nonsense"}}}); err == nil {
		t.Error("an unknown kind must be refused")
	}
	if diff := cmp.Diff(f, a.Faults()); diff != "" {
		t.Errorf("a refused set changed the faults: %s", diff)
	}
}
