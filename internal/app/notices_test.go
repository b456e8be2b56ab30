package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

const (
	hookKey  = "a-key-of-32-bytes-for-the-notice"
	hookFlow = "content20260101000000_000077"
	hookURL  = "https://hooks.studio.example/people?key=hidden-in-the-address"
)

// posted is a notice as the business received it.
type posted struct {
	url    string
	header http.Header
	body   []byte
	at     time.Time
}

// hook is the business's own address. It answers with its statuses in order, the last one
// again and again; 0 breaks the connection.
type hook struct {
	mu       sync.Mutex
	statuses []int
	after    http.Header
	got      []posted
}

func (h *hook) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, posted{req.URL.String(), req.Header.Clone(), body, time.Now()})
	status := http.StatusNoContent
	if n := len(h.statuses); n > 0 {
		status = h.statuses[min(len(h.got), n)-1]
	}
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h.after.Clone(),
		Body: io.NopCloser(strings.NewReader("thanks")), Request: req,
	}, nil
}

func (h *hook) all() []posted {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

// hooked is a change of the academy that is told of handoffs in every way there is.
func hooked(model *llmtest.Scripted, more ...func(*tenant.Rules)) setup {
	return setup{
		model: model, env: []string{"HANDOFF_WEBHOOK_SECRET=whsec_" + base64.StdEncoding.EncodeToString([]byte(hookKey))},
		rules: func(r *tenant.Rules) {
			r.Handoff = &tenant.Handoff{Tag: "needs-a-person", FlowNs: hookFlow, Webhook: hookURL}
			for _, change := range more {
				change(r)
			}
		},
	}
}

// notice is the body of a post.
type notice struct {
	Type, Tenant, Conversation, Turn, Reason, Note string
	At                                             time.Time
}

// read verifies a post by hand, as the Standard Webhooks specification says.
func (p posted) read(t *testing.T) (n notice) {
	t.Helper()
	id, at := p.header.Get("Webhook-Id"), p.header.Get("Webhook-Timestamp")
	mac := hmac.New(sha256.New, []byte(hookKey))
	fmt.Fprintf(mac, "%s.%s.%s", id, at, p.body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); p.header.Get("Webhook-Signature") != want || id == "" {
		t.Errorf("the signature of %q is %q, want %q", id, p.header.Get("Webhook-Signature"), want)
	}
	if seconds, err := strconv.ParseInt(at, 10, 64); err != nil || seconds != p.at.Unix() {
		t.Errorf("the timestamp is %q at %d", at, p.at.Unix())
	}
	if err := json.Unmarshal(p.body, &n); err != nil || p.url != hookURL || p.header.Get("Content-Type") != "application/json" {
		t.Errorf("posted to %s as %s: %s, %v", p.url, p.header.Get("Content-Type"), p.body, err)
	}
	return n
}

// noticed is what a turn's record says of its notice.
func noticed(acted []string) (all []string) {
	for _, a := range acted {
		if strings.HasPrefix(a, "notify_handoff ") {
			all = append(all, strings.TrimPrefix(a, "notify_handoff "))
		}
	}
	return all
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": every way to a person gives one notice,
// in each of its parts, behind the reply; and it is on record.
func TestNoticeOfEveryHandoff(t *testing.T) {
	reasons := map[string]string{"the model": "complaint", "the threshold": "low_confidence"}
	for _, e := range escalatings() {
		t.Run(e.name, func(t *testing.T) {
			h := &hook{}
			model := scripted(calling(addGift, noteDown, noteWhy), e.end, e.end, e.end)
			inStudioWith(t, hooked(model), h, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, question)
				s.rest(2 * time.Minute)
				checkOneNotice(s, h, id, notice{Reason: orElse(reasons[e.name], "error"), Note: map[bool]string{true: "Asked about a lost parcel."}[e.note]})
			})
		})
	}
	for _, c := range []struct {
		name, reason string
		rules        func(*tenant.Rules)
		texts        []string
	}{
		{"a keyword", "keyword", func(*tenant.Rules) {}, []string{"refund please"}},
		{"the budget", "budget", func(r *tenant.Rules) { r.Budget.DailyTokenCap = 100 }, []string{question}},
		{"the rate", "rate_limit", func(r *tenant.Rules) { r.RateLimit.TurnsPerSubscriberPerHour = 1 }, []string{"courses", question}},
		{"the turns", "turn_cap", func(r *tenant.Rules) { r.MaxTurnsPerConversation = 1 }, []string{"courses", question}},
		{"media", "media", func(r *tenant.Rules) { r.Messages.MediaFallback = "" }, []string{"{{last_input_text}}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &hook{}
			inStudioWith(t, hooked(scripted(), c.rules), h, func(s *studio) {
				id := s.contact("900000001")
				for _, text := range c.texts {
					s.write(id, text)
				}
				s.rest(2 * time.Minute)
				checkOneNotice(s, h, id, notice{Reason: c.reason})
			})
		})
	}
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// checkOneNotice asserts that the business was told of the contact's newest turn once, by the
// tag, the flow and a signed post, behind the reply.
func checkOneNotice(s *studio, h *hook, id string, want notice) {
	s.t.Helper()
	did := s.did(id)
	if count(did, "notice tag") != 1 || count(did, "notice flow") != 1 || count(did, "add_tag gift") != 0 {
		s.t.Errorf("ManyChat was asked %q", did)
	}
	s.checkBehind(id, escalation)
	turn := s.recorded(id, 1)[0]
	if diff := cmp.Diff([]string{"tag performed", "flow performed", "webhook performed"}, noticed(actedIn(turn))); diff != "" {
		s.t.Errorf("recorded (-want +got):\n%s", diff)
	}
	all := h.all()
	if len(all) != 1 {
		s.t.Fatalf("%d posts, want one", len(all))
	}
	got := all[0].read(s.t)
	want.Type, want.Tenant, want.Turn, want.Conversation, want.At = "handoff", "demo", turn.ID, got.Conversation, turn.SettledAt.Truncate(time.Second)
	if diff := cmp.Diff(want, got); diff != "" || got.Conversation == "" {
		s.t.Errorf("the notice says (-want +got):\n%s", diff)
	}
	if whole := fmt.Sprint(string(all[0].body), all[0].header); strings.Contains(whole, id) || strings.Contains(whole, question) {
		s.t.Errorf("the notice names the contact or their words: %s", whole)
	}
}

// inAnyOrder is a list of calls that do not wait for each other, as the parts of a notice do not.
func inAnyOrder(did []string) []string {
	did = slices.Clone(did)
	slices.Sort(did)
	return did
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a notice is tried again until it is
// taken, under the same id and with a signature of its time; a part that is made is not made
// again.
func TestNoticeIsTriedAgain(t *testing.T) {
	h := &hook{statuses: []int{503, 0, 429, 204}, after: http.Header{"Retry-After": {"40"}}}
	inStudioWith(t, hooked(scripted(with(draft{"escalate": true, "escalation_reason": "complaint"}))), h, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/addTagByName", Times: 2})
		s.write(id, question)
		s.rest(15 * time.Minute)
		all := h.all()
		if len(all) != 4 {
			s.t.Fatalf("%d posts, want 4", len(all))
		}
		for i, p := range all {
			p.read(t)
			if p.header.Get("Webhook-Id") != all[0].header.Get("Webhook-Id") {
				t.Errorf("post %d has the id %s", i, p.header.Get("Webhook-Id"))
			}
		}
		if wait := all[3].at.Sub(all[2].at); wait < 40*time.Second {
			t.Errorf("behind a 429 that asks for 40 s the next post came after %s", wait)
		}
		if did := s.did(id); !cmp.Equal(inAnyOrder(did), []string{"notice flow", "notice tag", "notice tag", "notice tag"}) {
			t.Errorf("ManyChat was asked %q", did)
		}
		if got := noticed(s.acted(id)); !cmp.Equal(got, []string{"tag performed", "flow performed", "webhook performed"}) {
			t.Errorf("recorded is %q", got)
		}
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": what is refused for good is given up, on
// record, and holds up none of the other parts nor a later reply.
func TestNoticeThatIsRefused(t *testing.T) {
	h := &hook{statuses: []int{410}}
	model := scripted(with(draft{"escalate": true, "escalation_reason": "complaint"}), wrote("Gladly."))
	inStudioWith(t, hooked(model), h, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.MissingFlow, Name: hookFlow})
		s.write(id, question)
		s.rest(10 * time.Minute)
		if got := noticed(s.acted(id)); !cmp.Equal(got, []string{"tag performed", "flow failed (rejected (400))", "webhook failed (rejected (410))"}) {
			t.Errorf("recorded is %q", got)
		}
		if n := len(h.all()); n != 1 || !cmp.Equal(inAnyOrder(s.did(id)), []string{"notice flow", "notice tag"}) {
			t.Errorf("%d posts, and ManyChat was asked %q", n, s.did(id))
		}
		if got := s.write(id, "hello?"); len(got.Shown) != 1 || got.Shown[0].Text != "Gladly." {
			t.Errorf("behind a dead notice the phone shows %v", got.Shown)
		}
		for _, hidden := range []string{"hidden-in-the-address", hookFlow, "needs-a-person", hookKey} {
			if strings.Contains(s.log.String(), hidden) {
				t.Errorf("the log holds %q", hidden)
			}
		}
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a restart loses no notice, and repeats
// none of its parts.
func TestNoticeOverARestart(t *testing.T) {
	h := &hook{statuses: []int{503}}
	change := hooked(scripted(with(draft{"escalate": true, "escalation_reason": "complaint"})))
	change.env = append(change.env, "SHUTDOWN_GRACE_MS=0")
	inStudioWith(t, change, h, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, question)
		s.rest(time.Second)
		s.stop() // before the notice is due
		if n := len(h.all()); n != 0 || len(s.did(id)) != 0 {
			t.Errorf("before the gap %d posts were made, and ManyChat was asked %q", n, s.did(id))
		}
		s.start()
		s.rest(20 * time.Second)
		s.stop() // between two tries of the post
		h.mu.Lock()
		before := len(h.got)
		h.statuses = []int{204}
		h.mu.Unlock()
		s.start()
		s.rest(15 * time.Minute)
		all := h.all()
		if before == 0 || len(all) != before+1 || all[before].header.Get("Webhook-Id") != all[0].header.Get("Webhook-Id") {
			t.Errorf("%d posts before the restart, and %d in all", before, len(all))
		}
		if did := s.did(id); !cmp.Equal(inAnyOrder(did), []string{"notice flow", "notice tag"}) {
			t.Errorf("ManyChat was asked %q", did)
		}
		if got := noticed(s.acted(id)); !cmp.Equal(got, []string{"tag performed", "flow performed", "webhook performed"}) {
			t.Errorf("recorded is %q", got)
		}
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a business that configures none is told
// nothing.
func TestNoticeOfNone(t *testing.T) {
	for name, none := range map[string]*tenant.Handoff{"absent": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			h := &hook{}
			model := scripted(calling(addGift), with(draft{"escalate": true, "escalation_reason": "complaint"}))
			inStudioWith(t, hooked(model, func(r *tenant.Rules) { r.Handoff = none }), h, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, question)
				s.rest(10 * time.Minute)
				if len(s.did(id)) != 0 || len(h.all()) != 0 || !cmp.Equal(s.acted(id), []string{"add_tag gift discarded"}) {
					t.Errorf("ManyChat was asked %q, %d posts, recorded is %q", s.did(id), len(h.all()), s.acted(id))
				}
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a handoff of which the contact is not told
// again is told to the business, without the flow, which may speak to the contact.
func TestNoticeWithinQuietMinutes(t *testing.T) {
	h := &hook{}
	step := with(draft{"escalate": true, "escalation_reason": "complaint"})
	inStudioWith(t, hooked(scripted(step, step, step)), h, func(s *studio) {
		id := s.contact("900000001")
		want := []string{"notice tag", "notice flow"}
		for i, c := range []struct {
			shown int
			more  []string
		}{{1, nil}, {0, []string{"notice tag"}}, {1, []string{"notice tag", "notice flow"}}} {
			want = append(want, c.more...)
			if got := s.write(id, question); len(got.Shown) != c.shown {
				t.Errorf("handoff %d shows %v", i, got.Shown)
			}
			s.rest(20 * time.Minute)
			if diff := cmp.Diff(inAnyOrder(want), inAnyOrder(s.did(id))); diff != "" || len(h.all()) != i+1 {
				t.Errorf("handoff %d: %d posts, and ManyChat was asked (-want +got):\n%s", i, len(h.all()), diff)
			}
		}
	})
}
