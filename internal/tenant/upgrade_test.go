package tenant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/10-config.md, first section: `config upgrade` rewrites renamed keys.
func TestUpgrade(t *testing.T) {
	tests := []struct {
		name, file, text, want string
		renamed                []tenant.Rename
	}{
		{
			"old keys", "catalog.json",
			"{\n  // courses\n  \"courses\" : [ {\"name\": \"courses\", \"enrollmentUrl\":\"https://x.example\"}, {\"enrollmentUrl\":1} ],\n}\n",
			"{\n  // courses\n  \"offerings\" : [ {\"name\": \"courses\", \"url\":\"https://x.example\"}, {\"url\":1} ],\n}\n",
			[]tenant.Rename{
				{Line: 3, From: "/courses", To: "offerings"},
				{Line: 3, From: "/courses/0/enrollmentUrl", To: "url"},
				{Line: 3, From: "/courses/1/enrollmentUrl", To: "url"},
			},
		},
		{"nothing to do", "catalog.json", catalog, catalog, nil},
		{"rules", "rules.json", rules, rules, nil},
		{"tools", "tools.json", `{"courses":1}`, `{"courses":1}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, renamed, err := tenant.Upgrade(tt.file, []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.renamed, renamed); diff != "" {
				t.Errorf("renamed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpgradeErrors(t *testing.T) {
	for file, want := range map[string]string{
		"catalog.json": "catalog.json:1:2: found the end of the file, expected valid JSON (comments and trailing commas are allowed)",
		"prompt.md":    "upgrade prompt.md: not a JSON file of a tenant; expected catalog.json, rules.json or tools.json",
	} {
		_, _, err := tenant.Upgrade(file, []byte("{"))
		if err == nil || err.Error() != want {
			t.Errorf("Upgrade(%s) = %v, want %s", file, err, want)
		}
	}
}
