package mock_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/01-principles.md, C9: the desk's source has no word of what a tenant
// sells. Words that greetings and prepositions share with an offering's name are none.
func TestSourceHoldsNoTrade(t *testing.T) {
	everyday := []string{"for", "de", "di", "and", "au", "aux", "du", "morning"}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lists, err := filepath.Glob("cue/*.go")
	if err != nil || len(lists) == 0 {
		t.Fatalf("no cue lists: %v", err)
	}
	paths = append(paths, lists...)
	var source string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source += " " + strings.Join(letters(string(b)), " ") + " "
	}
	if !strings.Contains(source, " catalog ") {
		t.Fatal("the source was not read")
	}
	tenants := []*tenant.Tenant{academy(t), repairs(), cleaners()}
	for _, tt := range trades() {
		tenants = append(tenants, &tenant.Tenant{Catalog: tt.catalog})
	}
	for _, tn := range tenants {
		for _, o := range tn.Catalog.Offerings {
			for _, w := range letters(o.Name + " " + tn.Catalog.BusinessName) {
				if !slices.Contains(everyday, w) && strings.Contains(source, " "+w+" ") {
					t.Errorf("the source holds %q of %q", w, o.Name)
				}
			}
		}
	}
}

// letters are the words of a text in lower case, without accents as the lists write them.
func letters(text string) []string {
	plain := strings.ToLower(text)
	for accented, bare := range map[string]string{"á": "a", "à": "a", "ã": "a", "é": "e", "è": "e", "ê": "e", "í": "i", "ó": "o", "ú": "u", "ç": "c", "ά": "α", "έ": "ε", "ή": "η", "ί": "ι", "ό": "ο", "ύ": "υ", "ώ": "ω", "ς": "σ"} {
		plain = strings.ReplaceAll(plain, accented, bare)
	}
	return strings.FieldsFunc(plain, func(r rune) bool { return !('a' <= r && r <= 'z' || 'α' <= r && r <= 'ω') })
}
