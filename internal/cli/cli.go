// Package cli is the program as its user types it: one file a subcommand, one table
// of exit codes. Results go to the standard output, everything else to the standard
// error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"github.com/mattn/go-isatty"

	"github.com/manychat-agent/manychat-agent/internal/cli/data"
	"github.com/manychat-agent/manychat-agent/internal/cli/report"
	"github.com/manychat-agent/manychat-agent/internal/cli/talk"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// The exit codes (README.md, "Exit codes").
const (
	ExitOK     = 0
	ExitFailed = 1 // something went wrong while running
	ExitUsage  = 2 // the command line or the configuration is wrong; nothing was started
)

// Streams are where a command reads and writes.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// commands are the subcommands, in the order of the help.
type commands struct {
	Dev          devCommand      `cmd:"" help:"Run the service with a ManyChat and a phone page of its own; nothing to configure."`
	Serve        serveCommand    `cmd:"" help:"Run the service: HTTP endpoint and outbox worker."`
	Worker       workerCommand   `cmd:"" help:"Run the outbox worker alone."`
	Simulate     simulateCommand `cmd:"" help:"Write as a contact and see the reply; a chat when no text is given."`
	Config       configCommands  `cmd:"" help:"Check and show the configuration."`
	Prompt       promptCommands  `cmd:"" help:"Show what a model reads."`
	Outbox       outboxCommands  `cmd:"" help:"List, explain, retry and discard what is delivered behind the response."`
	Turn         turnCommands    `cmd:"" help:"List a contact's turns, and explain one."`
	Conversation talk.Commands   `cmd:"" help:"Show who has a contact, and give them to a person or back to the agent."`
	Report       report.Commands `cmd:"" help:"Count what sales came to, and what the models cost."`
	Tokens       tokensCommands  `cmd:"" help:"Give contacts their tokens before they are enforced."`
	Contact      data.Contact    `cmd:"" help:"Show and erase what is held about one contact."`
	DB           data.DB         `cmd:"" name:"db" help:"Back the database up, and move it."`
	Migrate      migrateCommand  `cmd:"" help:"Bring the database up to date; serve and dev do it by themselves."`
	Version      versionCommand  `cmd:"" help:"Print the version."`
}

// description stands above the list of commands.
const description = `Answers the people who write to a business through ManyChat.

Examples:

    manychat-agent dev                  see it work: no account, no key
    manychat-agent simulate "hello"     the same in the terminal
    manychat-agent config check         what is missing before serve
    manychat-agent serve                run it
    manychat-agent outbox list          what was not delivered`

// usageError is a mistake in the command line or the configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exit is how kong asks to end the program, after a help text.
type exit int

// Run runs a command line, without the program's name, and returns the exit code.
func Run(ctx context.Context, args []string, std Streams) (code int) {
	defer func() {
		if p := recover(); p != nil {
			asked, ok := p.(exit)
			if !ok {
				panic(p)
			}
			code = int(asked)
		}
	}()
	var c commands
	parser, err := kong.New(&c,
		kong.Name("manychat-agent"),
		kong.Description(description),
		kong.Writers(std.Out, std.Err),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(std, shell(std), dataShell(std), reportShell(std)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		return exitCode(ctx, std, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return exitCode(ctx, std, usageError{fmt.Errorf("%w; see manychat-agent --help", err)})
	}
	return exitCode(ctx, std, parsed.Run())
}

// exitCode prints an error once, where it stops, and says how the program ends. What
// its user interrupted did as it was told.
func exitCode(ctx context.Context, std Streams, err error) int {
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return ExitOK
	}
	fmt.Fprintln(std.Err, "manychat-agent: "+err.Error())
	var usage usageError
	var environment config.Problems
	var files tenant.Problems
	if errors.As(err, &usage) || errors.As(err, &environment) || errors.As(err, &files) {
		return ExitUsage
	}
	return ExitFailed
}

// dataShell is what the commands of package data need.
func dataShell(std Streams) data.Shell {
	return data.Shell{In: std.In, Out: std.Out, Err: std.Err, Terminal: terminal,
		Config: func() (config.Config, error) { return environment(config.Once, std) },
		Database: func(ctx context.Context, use func(context.Context, *store.DB) error) error {
			return withDatabase(ctx, std, use)
		},
		Usage: func(err error) error { return usageError{err} },
	}
}

// reportShell is what the commands of package report need.
func reportShell(std Streams) report.Shell {
	return report.Shell{
		Out: std.Out, Err: std.Err, Usage: func(err error) error { return usageError{err} },
		Business: func() (config.Config, *tenant.Tenant, error) { return configured(config.Once, std) },
		Database: func(ctx context.Context, use func(context.Context, *store.DB) error) error {
			return withDatabase(ctx, std, use)
		},
	}
}

// terminal reports whether a stream is read by a person.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
