// Package report is the commands that count: what sales came to, and what was spent.
package report

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Shell is what the commands need of the program around them.
type Shell struct {
	Out, Err io.Writer
	Business func() (config.Config, *tenant.Tenant, error) // of a command that ends by itself
	Database func(ctx context.Context, use func(context.Context, *store.DB) error) error
	Usage    func(error) error // marks a mistake in the command line
}

// Commands are the reports.
type Commands struct {
	Funnel funnel `cmd:"" help:"How contacts came along from their first message to the link to pay, by weeks."`
	Spend  spend  `cmd:"" help:"What the models cost, by days, beside the daily caps."`
}

// Help shows examples.
func (Commands) Help() string {
	return `Examples:

    manychat-agent report funnel
    manychat-agent report funnel --weeks 4 --offering wheel_course
    manychat-agent report spend --days 7 --json

What each number counts is in docs/guides/reading-the-numbers.md.`
}

// most bounds how far back a report goes: ten years.
const mostWeeks, mostDays = 520, 3660

// read runs use with what a report needs: the business and its database.
func (sh Shell) read(ctx context.Context, use func(ctx context.Context, db *store.DB, business *tenant.Tenant) error) error {
	_, business, err := sh.Business()
	if err != nil {
		return err
	}
	return sh.Database(ctx, func(ctx context.Context, db *store.DB) error { return use(ctx, db, business) })
}

// within refuses a number out of its bounds.
func (sh Shell) within(flag string, n, most int) error {
	if n < 1 || n > most {
		return sh.Usage(fmt.Errorf("%s is %d: give a number from 1 to %d", flag, n, most))
	}
	return nil
}

// day is a date as reports write it.
func day(at time.Time) string { return at.Format(time.DateOnly) }
