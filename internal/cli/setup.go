package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// environment reads .env and the environment, and tries whether the models can be opened.
// Its error wraps a [config.Problems] when variables are wrong; [config.Load] says what
// the Config holds then.
func environment(mode config.Mode, std Streams) (config.Config, error) {
	dotenv, err := os.ReadFile(".env")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.Config{}, usageError{fmt.Errorf("the file .env cannot be read: %w", err)}
	}
	c, err := config.Load(config.Source{
		Mode: mode, Environ: os.Environ(), DotEnv: dotenv, Terminal: terminal(std.Err),
	})
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return c, err
	}
	problems = append(unusable(c, problems), problems...)
	if len(problems) > 0 {
		return c, fmt.Errorf("the environment is not valid:\n%w", problems)
	}
	return c, nil
}

// unusable are the problems of the models themselves. Of a variable that has a problem
// already nothing more is said.
func unusable(c config.Config, known config.Problems) config.Problems {
	_, err := app.Models(c, nil)
	var found config.Problems
	errors.As(err, &found)
	return slices.DeleteFunc(found, func(p config.Problem) bool {
		return slices.ContainsFunc(known, func(k config.Problem) bool { return k.Variable == p.Variable })
	})
}

// configured reads the environment and the tenant's files.
func configured(mode config.Mode, std Streams) (config.Config, *tenant.Tenant, error) {
	c, err := environment(mode, std)
	if err != nil {
		return config.Config{}, nil, err
	}
	t, err := app.Business(c, 0)
	return c, t, err
}

// logger writes the program's log to the standard error.
func logger(c config.Config, std Streams) *slog.Logger {
	var level slog.Level
	// The configuration has checked the name.
	_ = level.UnmarshalText([]byte(c.Server.LogLevel))
	log := telemetry.NewLogger(std.Err, level, telemetry.Format(c.Server.LogFormat))
	for _, w := range c.Warnings() {
		log.Warn(w.String())
	}
	return log
}
