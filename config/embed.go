// Package demo carries the demo tenant inside the program: the configuration of a
// fictional pottery school, and the editor schemas of the configuration files.
package demo

import (
	"embed"
	"io/fs"
)

// Demo is this folder as it is committed: the files end in .example, the schemas are
// in schema/.
//
//go:embed *.example README.md schema/*.json
var Demo embed.FS

// suffix keeps the committed examples apart from a tenant's own files.
const suffix = ".example"

// FS is the demo tenant under the names a tenant's files have: prompt.md,
// catalog.json, rules.json and tools.json; and sandbox.json, which only the sandbox reads.
func FS() fs.FS { return tenantFS{} }

type tenantFS struct{}

// Open opens the example of a file.
func (tenantFS) Open(name string) (fs.File, error) { return Demo.Open(name + suffix) }

// ReadFile reads the example of a file.
func (tenantFS) ReadFile(name string) ([]byte, error) { return Demo.ReadFile(name + suffix) }
