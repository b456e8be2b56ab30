package cli

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
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
	d, err := app.NewDev(ctx, app.DevOptions{Config: c, Tenant: t, Listener: ln, Log: logger(c, std), Now: time.Now})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { err = errors.Join(err, d.Close()) }()
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
	model, err := app.Model(c)
	if err != nil {
		return err
	}
	log := logger(c, std)
	for _, v := range c.Values() {
		log.Info("in force", "variable", v.Name, "value", v.Value, "from", v.Origin)
	}
	service, err := app.New(ctx, app.Options{
		Config: c, Tenant: t, Model: model, Log: log, Now: time.Now, NoWorker: noWorker,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	return run(c, service)
}
