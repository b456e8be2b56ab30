package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// Holds docs/spec/04-agent.md, "Models": what a server says is wrong is read in whatever
// shape it says so. The adapters' own tests have the places where each was met.
func TestComplaintIn(t *testing.T) {
	no := wire.Complaint{Message: "no"}
	for in, want := range map[string]wire.Complaint{
		`{"error":{"message":"no","type":"t","param":"p","code":"c"}}`:        {Message: "no", Param: "p", Code: "c", Type: "t"},
		`{"message":"no","type":"t","param":"p","code":400}`:                  {Message: "no", Param: "p", Code: "400", Type: "t"},
		`{"type":"error","error":{"type":"overloaded_error","message":"no"}}`: {Message: "no", Type: "overloaded_error"},
		`{"object":"error","message":"no","param":null,"code":4.5}`:           no,
		`[{"error":{"message":"no"}},{"error":{"message":"later"}}]`:          no,
		`{"error":"no"}`:                       no,
		`{"error":null,"message":"no"}`:        no,
		`{"error":{"error":{"message":"no"}}}`: no,
		`{"detail":"no"}`:                      no,
		`"no"`:                                 no,
		`["no"]`:                               no,
		`{"detail":[{"loc":["body","messages",1,"content"],"msg":"no","type":"missing"}]}`:                            {Message: "no", Param: "messages.1.content", Type: "missing"},
		`{"error":{"message":"no","metadata":{"raw":"busy"}}}`:                                                        {Message: "no: busy"},
		`{"error":{"message":"no","metadata":{"raw":"{\"error\":{\"message\":\"hot\",\"param\":\"temperature\"}}"}}}`: {Message: "no: hot", Param: "temperature"},
		"{\"error\":\"\xff\"}": {Message: "\uFFFD"},
		`{"error":7}`:          {}, `{"error":{}}`: {}, `7`: {}, `[]`: {}, `null`: {}, ``: {}, `<html>`: {}, `{"error":"no"`: {},
	} {
		if d := cmp.Diff(want, wire.ComplaintIn([]byte(in))); d != "" {
			t.Errorf("%s (-want +got):\n%s", in, d)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": a complaint is known by its code or its type.
func TestComplaintIs(t *testing.T) {
	c := wire.Complaint{Message: "x", Param: "p", Code: "a", Type: "b"}
	if !c.Is("a") || !c.Is("z", "b") || c.Is("x", "p", "z") || c.Is() {
		t.Errorf("%+v is taken for another", c)
	}
}

// Holds docs/spec/04-agent.md, "Models": words are found in any case.
func TestHas(t *testing.T) {
	if !wire.Has("Not SUPPORTED here", "unknown", "support") || wire.Has("supp ort", "support") || wire.Has("", "a") || wire.Has("a") {
		t.Error("words are found where they are not, or the other way round")
	}
}
