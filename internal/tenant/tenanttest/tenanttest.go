// Package tenanttest provides the second fixture tenant: a business of another trade than
// the demo academy, in another language (docs/spec/01-principles.md, C9).
package tenanttest

import (
	"embed"
	"io/fs"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

//go:embed repairs tools/tools.json selling
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
func EquippedFiles() fs.FS { return with{Files(), "tools"} }

// Equipped is the same business with tools.
func Equipped() *tenant.Tenant {
	t, err := tenant.Load(EquippedFiles(), tenant.Options{ID: "repairs"})
	if err != nil {
		panic(err) // the files are embedded
	}
	return t
}

// SellingFiles are the files of the same business with a sale of its own.
func SellingFiles() fs.FS { return with{Files(), "selling"} }

// Selling is the same business with a sale of its own.
func Selling() *tenant.Tenant {
	t, err := tenant.Load(SellingFiles(), tenant.Options{ID: "repairs"})
	if err != nil {
		panic(err) // the files are embedded
	}
	return t
}

// with is the business with the files of a folder in place of its own. The tools are kept
// apart, so that the business has none in most tests.
type with struct {
	fs.FS
	folder string
}

// Open opens a file.
func (w with) Open(name string) (fs.File, error) {
	if file, err := files.Open(w.folder + "/" + name); err == nil {
		return file, nil
	}
	return w.FS.Open(name)
}
