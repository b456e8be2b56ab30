// Package tenanttest provides the second fixture tenant: a business of another trade than
// the demo academy, in another language (docs/spec/01-principles.md, C9).
package tenanttest

import (
	"embed"
	"io/fs"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

//go:embed repairs tools/tools.json
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

// EquippedFiles are the files of the same business with a tools.json beside them.
func EquippedFiles() fs.FS { return equipped{Files()} }

// Equipped is the same business with tools.
func Equipped() *tenant.Tenant {
	t, err := tenant.Load(EquippedFiles(), tenant.Options{ID: "repairs"})
	if err != nil {
		panic(err) // the files are embedded
	}
	return t
}

type equipped struct{ fs.FS }

// Open opens a file; the tools are kept apart, so that the business has none in most tests.
func (e equipped) Open(name string) (fs.File, error) {
	if name == tenant.ToolsFile {
		return files.Open("tools/" + name)
	}
	return e.FS.Open(name)
}
