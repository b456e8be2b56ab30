package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/manychat-agent/manychat-agent/internal/app"
)

type versionCommand struct{}

// Run prints the version, with the commit of a build from a checkout.
func (versionCommand) Run(std Streams) error {
	_, err := fmt.Fprintf(std.Out, "manychat-agent %s%s (%s %s/%s)\n", app.Version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
