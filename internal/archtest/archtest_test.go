package archtest_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/manychat-agent/manychat-agent/internal/archtest"
)

// TestRepository runs every rule over the repository itself.
//
// Holds docs/spec/01-principles.md, C1, C2 and C8.
func TestRepository(t *testing.T) {
	tree, err := archtest.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range archtest.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, v := range rule.Check(tree) {
				t.Error(v)
			}
		})
	}
}

// TestEveryRuleIsPlanted fails when a rule is added without a violation that shows it
// can fail.
func TestEveryRuleIsPlanted(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range planted() {
		seen[p.rule] = true
	}
	for _, rule := range archtest.Rules() {
		if !seen[rule.Name] {
			t.Errorf("no planted violation for the rule %q", rule.Name)
		}
	}
}

// TestPlanted plants each violation in a tree that is otherwise right, and expects
// exactly its message from exactly its rule.
func TestPlanted(t *testing.T) {
	for _, p := range planted() {
		t.Run(p.rule+"/"+p.name, func(t *testing.T) {
			tree := load(t, p.files)
			for _, rule := range archtest.Rules() {
				if rule.Name != p.rule {
					continue
				}
				got := rule.Check(tree)
				if len(got) != 1 || got[0].String() != p.want {
					t.Errorf("got %v\nwant [%s]", got, p.want)
				}
			}
		})
	}
}

// TestSoundTree shows that the tree the violations are planted in breaks no rule.
func TestSoundTree(t *testing.T) {
	tree := load(t, nil)
	for _, rule := range archtest.Rules() {
		if got := rule.Check(tree); len(got) > 0 {
			t.Errorf("%s: %v", rule.Name, got)
		}
	}
}

// load reads the sound tree with files added or replaced.
func load(t *testing.T, files map[string]string) *archtest.Tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, set := range []map[string]string{sound(), files} {
		for name, text := range set {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	tree, err := archtest.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
