package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// release is the version in CHANGELOG.md that this program is, or will be.
const release = "0.1.0"

// Run prints the version, with the commit of a build from a checkout.
func (versionCommand) Run(std Streams) error {
	_, err := fmt.Fprintf(std.Out, "manychat-agent %s%s (%s %s/%s)\n", release, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// commit is the build's commit, when it was recorded.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return ""
}
