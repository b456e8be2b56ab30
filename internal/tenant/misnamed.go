package tenant

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// A Misnamed file is one that nothing reads, and whose name is much like that of a file
// that is missing beside it.
type Misnamed struct{ Name, Meant string }

// String says it to an operator.
func (m Misnamed) String() string { return m.Name + " is not read: did you mean " + m.Meant + "?" }

// MisnamedFiles lists such files of a folder by their names. Beside the file that is meant
// they are copies, and nobody's mistake.
func MisnamedFiles(folder fs.FS) (list []Misnamed) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil // whoever reads the files says so
	}
	missing := []string{PromptFile, CatalogFile, RulesFile, ToolsFile}
	missing = slices.DeleteFunc(missing, func(name string) bool { return exists(folder, name) })
	for _, e := range entries {
		// Some editors and systems put .txt behind what they save, and hide it.
		near, ok := document.Nearest(strings.TrimSuffix(e.Name(), ".txt"), missing)
		if ok && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			list = append(list, Misnamed{e.Name(), near})
		}
	}
	return list
}

// AnyFile reports whether a folder holds at least one of a tenant's files. One that cannot
// be looked at is there.
func AnyFile(folder fs.FS) bool {
	return slices.ContainsFunc([]string{PromptFile, CatalogFile, RulesFile, ToolsFile}, func(name string) bool { return exists(folder, name) })
}

func exists(folder fs.FS, name string) bool {
	_, err := fs.Stat(folder, name)
	return !errors.Is(err, fs.ErrNotExist)
}
