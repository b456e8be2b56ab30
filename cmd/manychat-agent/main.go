// Command manychat-agent answers the people who write to a business through
// ManyChat. See README.md; `manychat-agent --help` lists the subcommands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/manychat-agent/manychat-agent/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
