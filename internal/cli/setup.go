package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
)

// environment reads .env and the environment.
func environment(mode config.Mode, std Streams) (config.Config, error) {
	dotenv, err := os.ReadFile(".env")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.Config{}, usageError{fmt.Errorf("the file .env cannot be read: %w", err)}
	}
	return config.Load(config.Source{
		Mode: mode, Environ: os.Environ(), DotEnv: dotenv, Providers: app.Providers(), Terminal: terminal(std.Err),
	})
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
