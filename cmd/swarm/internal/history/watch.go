package history

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/service"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
)

type watchOptions struct {
	timestamps, json bool
	hooks, notify    bool
}

func NewWatch(a *app.App) *cobra.Command {
	o := &watchOptions{}
	cmd := &cobra.Command{
		Use:   "watch [flags]",
		Short: "Follow the history, and record ends as they happen",
		Long: `Print the events of workers from now on, whatever causes them, as "swarm events" does,
and keep the history up to date meanwhile: the end of a worker is recorded when it
happens; a worker whose retention time has run out is removed; a worker whose owner has
ended is killed if its backend does not do that. The screens of agents that have a
profile are read every few seconds: IDLE, WORKING, BLOCKED with its question, ASKED with
the digest of its dialog. Rules in [[answers]] of ~/.config/swarm/config.toml answer what
they decide, see docs/questions.md.

It runs until it is interrupted. Nothing is lost then, even by kill -9: events that
happen while no command watches are recorded later, with their true time. Any number
of watchers may run at once.

--hooks runs the commands of [hooks] in ~/.config/swarm/config.toml: at least once for
each of their events, those included that happened since the hooks last ran. A command
that fails is run again later. Notifier plugins that [notify] names get their events in the
same way. Of several such watchers one runs the hooks.

--notify informs you when a worker fails, is lost, is in a crash loop, or asks something:
on the desktop if notify-send and a session are there, and on the terminal with the
bell and a notification of its own (OSC 9).

--print-service prints a unit that keeps this command running with the other flags, and
does nothing else.

Exit code: 130 after Ctrl-C, as for every command that is interrupted.`,
		Example: `  swarm watch
  swarm watch --json | jq -r 'select(.final) | .worker'
  swarm watch --hooks --notify
  swarm watch --hooks --print-service systemd > ~/.config/systemd/user/swarm-watch.service`,
		Args: command.Arguments(0, 0, ""),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.timestamps, "timestamps", "t", false, "begin each line with the time of the event")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line")
	f.BoolVar(&o.hooks, "hooks", false, "run the commands of [hooks] and the notifiers of [notify] in your config file")
	f.BoolVar(&o.notify, "notify", false, "show a notice on the desktop and the terminal when a worker needs you")
	manager := service.Flag(cmd, "print a unit that keeps this running")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if manager.Value != "" {
			return service.Print(a, manager.Value, o.unit())
		}
		return runWatch(cmd.Context(), a, o)
	}
	return cmd
}

// unit is a watch with the same flags that a manager of services keeps running.
func (o *watchOptions) unit() service.Unit {
	u := service.Unit{Name: "watch", Description: "Record what happens to the workers of swarm"}
	for _, flag := range []struct {
		set  bool
		name string
	}{{o.hooks, "--hooks"}, {o.notify, "--notify"}, {o.timestamps, "--timestamps"}, {o.json, "--json"}} {
		if flag.set {
			u.Args = append(u.Args, flag.name)
		}
	}
	return u
}

func runWatch(ctx context.Context, a *app.App, o *watchOptions) (err error) {
	// Notifications run next to the watch and end with it.
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	printer := eventPrinter{App: a, timestamps: o.timestamps, json: o.json}
	each := []func(registry.Event) error{printer.print}
	if o.notify {
		notify, err := startNotifier(ctx, a, &background)
		if err != nil {
			return err
		}
		each = append(each, notify)
	}
	cfg, err := o.config(a)
	if err != nil {
		return err
	}
	return a.With(ctx, cfg, func(h *host.Host) error {
		if o.hooks {
			runner, stop, err := startHooks(ctx, a, cfg, h)
			if err != nil {
				return err
			}
			defer stop() // before the host, whose plugins it uses
			if runner != nil {
				each = append(each, func(registry.Event) error {
					runner.Wake()
					return nil
				})
			}
		}
		return h.Watch().Watch(ctx, watch.Request{
			Ready: func() {
				if a.ErrWidth() > 0 {
					a.Hint("watching for events (Ctrl-C to stop)")
				}
			},
			Event: func(e registry.Event) error {
				var errs []error
				for _, handle := range each {
					errs = append(errs, handle(e))
				}
				return errors.Join(errs...)
			},
			Warn: func(text string) { a.Warn(text, "") },
		})
	})
}

// config returns the user's config. With hooks a mistake in it is an error: a hook that is
// left out would miss events.
func (o *watchOptions) config(a *app.App) (config.Config, error) {
	if !o.hooks {
		return a.UserConfig(), nil
	}
	loaded, err := a.Setup().LoadUser()
	if err != nil {
		return config.Config{}, err
	}
	a.WarnRefused(loaded)
	if slices.ContainsFunc(loaded.Refused, func(r config.Refused) bool { return r.User }) {
		return config.Config{}, output.WithHint(errors.New("the hooks of a file that is not used can't be run"),
			"without --hooks the events are only printed")
	}
	return loaded.Config, nil
}
