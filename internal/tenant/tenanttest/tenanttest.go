// Package tenanttest provides the second fixture tenant: a business of another trade than
// the demo academy, in another language (docs/spec/01-principles.md, C9).
package tenanttest

import (
	"embed"
	"io/fs"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

//go:embed repairs
var files embed.FS

// Files are the tenant's files, as an operator would keep them in CONFIG_DIR.
func Files() fs.FS {
	folder, err := fs.Sub(files, "repairs")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return folder
}

// Repairs is Oficina Vagalume, which repairs telephones in Portuguese; each call loads
// it anew, so that a test may change what it got.
func Repairs() *tenant.Tenant {
	t, err := tenant.Load(Files(), tenant.Options{ID: "repairs"})
	if err != nil {
		panic(err) // the files are embedded
	}
	return t
}
