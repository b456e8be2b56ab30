package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// Columns count code points however long a line is, and lines however many there are.
func TestProblemPlacesInLongFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comment := strings.Repeat(rapid.StringOfN(rapid.SampledFrom([]rune("aü日😀\n ")), 1, 9, -1).Draw(t, "comment"), rapid.IntRange(0, 900).Draw(t, "times"))
		before := "/*" + comment + "*/{\"title\":"
		doc, problem := document.Parse("m.json", []byte(before+"7}"))
		if problem != nil {
			t.Fatal(problem)
		}
		last := before[strings.LastIndexByte(before, '\n')+1:]
		want := fmt.Sprintf("m.json:%d:%d /title: found 7, expected a text of 2 to 5 characters", 1+strings.Count(before, "\n"), 1+len([]rune(last)))
		if got := doc.Decode(new(menu)).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// Holds docs/spec/10-config.md, first section: everything wrong at once, as far as a
// person reads. What a file of the allowed size can hold is counted and not listed.
func TestListEndsAtAHundred(t *testing.T) {
	const n = 100_000
	distinct := make([]string, n)
	for i := range distinct {
		distinct[i] = fmt.Sprintf(`"k%d":1`, i)
	}
	tests := map[string]struct {
		text string
		more int
	}{
		"a hundred":              {`{"title":"abc",` + strings.Repeat(`"k":1,`, 100) + "}", 0},
		"one more":               {`{"title":"abc",` + strings.Repeat(`"k":1,`, 101) + "}", 1},
		"one key on one line":    {`{"title":"abc",` + strings.Repeat(`"k":1,`, n) + "}", n - 100},
		"one key on many lines":  {`{"title":"abc",` + strings.Repeat("\"k\":1,\n", n) + "}", n - 100},
		"many unknown keys":      {`{"title":"abc",` + strings.Join(distinct, ",") + "}", n - 100},
		"an old key many times":  {`{"title":"abc",` + strings.Repeat(`"meals":[],`, n) + "}", 2*n - 1 - 100},
		"values of another type": {`{"title":"abc","prices":{` + strings.Join(distinct, ",") + "}}", n - 100},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			doc, problem := document.Parse("m.json", []byte(tt.text))
			if problem != nil {
				t.Fatal(problem)
			}
			lines := strings.Split(doc.Decode(new(menu)).Sort().Error(), "\n")
			listed, rest := lines[:100], lines[100:]
			var want []string
			if tt.more > 0 {
				want = []string{fmt.Sprintf("m.json: and %d more", tt.more)}
			}
			if diff := cmp.Diff(want, rest, cmp.Transformer("text", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
				t.Errorf("after %d lines: %s", len(listed), diff)
			}
		})
	}
}

// What a file's own rules and the checks across files find is counted together, and
// each file has its own hundred.
func TestSortShortensEachFile(t *testing.T) {
	var problems document.Problems
	for line := range 150 {
		for _, file := range []string{"a.json", "b.json"} {
			problems = append(problems, document.Problem{File: file, Line: 200 - line, Column: 1, Found: "x", Expected: "y"})
		}
	}
	problems = append(problems, document.Problem{File: "a.json", More: 7}, document.Problem{File: "c.md", Found: "x", Expected: "y"})
	got := strings.Split(problems.Sort().Error(), "\n")
	if len(got) != 203 {
		t.Fatalf("%d lines", len(got))
	}
	want := []string{"a.json:51:1: found x, expected y", "a.json:150:1: found x, expected y", "a.json: and 57 more", "b.json:51:1: found x, expected y", "b.json: and 50 more", "c.md: found x, expected y"}
	if diff := cmp.Diff(want, []string{got[0], got[99], got[100], got[101], got[201], got[202]}); diff != "" {
		t.Error(diff)
	}
}
