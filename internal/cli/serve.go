package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

type devCommand struct{}

// Run serves the sandbox until it is interrupted.
func (devCommand) Run(ctx context.Context, std Streams) (err error) {
	c, t, err := configured(config.Dev, std)
	if err != nil {
		return err
	}
	ln, err := app.Listen(c.Server.Host, c.Server.Port)
	if err != nil {
		return err
	}
	log, err := startLog(c, t, std)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	reloadWith, ignore := onHangup()
	defer ignore()
	d, err := app.NewDev(ctx, app.DevOptions{Config: c, Tenant: t, Listener: ln, Log: log, Now: time.Now})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	reloadWith(d.Reload)
	if err := d.Welcome(std.Out); err != nil {
		return err
	}
	return d.Serve(ctx)
}

type serveCommand struct {
	NoWorker bool `help:"Only answer; another process delivers deferred replies."`
}

// Run serves until it is interrupted.
func (s serveCommand) Run(ctx context.Context, std Streams) error {
	return withService(ctx, std, s.NoWorker, func(c config.Config, service *app.Service) error {
		ln, err := app.Listen(c.Server.Host, c.Server.Port)
		if err != nil {
			return err
		}
		mux := http.NewServeMux()
		service.Register(mux)
		return service.Serve(ctx, app.Front{Listener: ln, Handler: mux})
	})
}

type workerCommand struct{}

// Run delivers until it is interrupted.
func (workerCommand) Run(ctx context.Context, std Streams) error {
	return withService(ctx, std, false, func(_ config.Config, service *app.Service) error {
		return service.Work(ctx)
	})
}

// withService builds the service of a deployment, runs it and closes it.
func withService(ctx context.Context, std Streams, noWorker bool, run func(config.Config, *app.Service) error) (err error) {
	c, t, err := configured(config.Serve, std)
	if err != nil {
		return err
	}
	models, err := app.Models(c, nil)
	if err != nil {
		return err
	}
	log, err := startLog(c, t, std)
	if err != nil {
		return err
	}
	reloadWith, ignore := onHangup()
	defer ignore()
	for _, v := range c.Values() {
		if !v.Planned {
			log.Info("in force", "variable", v.Name, "value", v.Value, "from", v.Origin)
		}
	}
	if keys := t.WithoutEffect(); len(keys) > 0 {
		log.Warn("configured without effect in this version", "keys", keys)
	}
	service, err := app.New(ctx, app.Options{
		Config: c, Tenant: t, Models: models, Log: log, Now: time.Now, NoWorker: noWorker,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	reloadWith(service.Reload)
	return run(c, service)
}

// startLog opens the log of a service, which begins with what its models may spend. The
// mock spends nothing.
func startLog(c config.Config, t *tenant.Tenant, std Streams) (*slog.Logger, error) {
	log := logger(c, std)
	spending, err := app.SpendingOf(c, t)
	if err != nil {
		return nil, err
	}
	if c.Agent.Model.Provider == config.Mock {
		spending.Allows = ""
	}
	spending.Log(log)
	return log, nil
}

// onHangup calls reload at every SIGHUP, by which operators ask programs to read their
// files again. One that comes before reload is there waits for it. The result undoes it.
func onHangup() (start func(reload func() error), undo func()) {
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	start = func(reload func() error) {
		go func() {
			for {
				select {
				case <-hangups:
					_ = reload() // it has said in the log what is wrong
				case <-done:
					return
				}
			}
		}()
	}
	return start, func() {
		signal.Stop(hangups)
		close(done)
	}
}
