package archtest

// Rule is one rule of the house under the name the tests report.
type Rule struct {
	Name  string
	Check func(*Tree) []Violation
}

// Rules lists them all.
func Rules() []Rule {
	return []Rule{
		{"imports", Imports},
		{"libraries", Libraries},
		{"words", Words},
		{"names", Names},
		{"comments", Comments},
		{"sizes", Sizes},
		{"state", State},
		{"tests", Tests},
		{"map", Map},
		{"links", Links},
		{"citations", Citations},
		{"tenant data", TenantData},
	}
}
