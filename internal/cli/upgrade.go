package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

type configUpgrade struct {
	DryRun bool `help:"Say what would be renamed, and write nothing."`
}

// upgradedFile is a file with its old keys renamed.
type upgradedFile struct {
	path    string
	text    []byte
	renamed []tenant.Rename
}

// Run renames the old keys of the files in CONFIG_DIR. Nothing is written unless every
// file can be read as JSON.
func (u configUpgrade) Run(std Streams) error {
	c, err := environment(config.Once, std)
	if err != nil {
		return err
	}
	files, err := upgraded(filepath.Clean(c.Folders.Config))
	if err != nil {
		return err
	}
	count := 0
	for _, f := range files {
		if count += len(f.renamed); len(f.renamed) == 0 {
			continue
		}
		if !u.DryRun {
			if err := replace(f.path, f.text); err != nil {
				return fmt.Errorf("write %s: %w", f.path, err)
			}
		}
		for _, r := range f.renamed {
			fmt.Fprintf(std.Out, "%s:%d %s is now %q\n", f.path, r.Line, r.From, r.To)
		}
	}
	switch {
	case count == 0:
		_, err = fmt.Fprintln(std.Out, "There is nothing to rename.")
	case u.DryRun:
		_, err = fmt.Fprintf(std.Out, "%d to rename; nothing was written.\n", count)
	default:
		_, err = fmt.Fprintf(std.Out, "%d renamed.\n", count)
	}
	return err
}

// upgraded reads a folder's files; those that are missing are left out.
func upgraded(folder string) (files []upgradedFile, err error) {
	var problems tenant.Problems
	for _, name := range []string{tenant.CatalogFile, tenant.RulesFile, tenant.ToolsFile} {
		f := upgradedFile{path: filepath.Join(folder, name)}
		text, err := os.ReadFile(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		var broken tenant.Problems
		if f.text, f.renamed, err = tenant.Upgrade(name, text); errors.As(err, &broken) {
			problems = append(problems, broken...)
		} else if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("the configuration in %s is not valid, and nothing was written:\n%w", folder, problems)
	}
	if len(files) == 0 {
		return nil, usageError{fmt.Errorf("there is no file to upgrade in %s: put the files there, or set CONFIG_DIR", folder)}
	}
	return files, nil
}

// replace gives a file another text at once: a reader sees the old one or the new one,
// whatever happens meanwhile. A link stays a link, and the file keeps its permissions.
func replace(path string, text []byte) (err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Chmod(info.Mode().Perm()), next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
