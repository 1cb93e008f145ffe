package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/hooks"
)

// hookJSON is what the command of a hook reads, as docs/hook.schema.json describes it:
// an event, and why the command is run. Fields are only ever added, at the end.
type hookJSON struct {
	eventJSON
	EventID string   `json:"event_id"`
	Hook    string   `json:"hook"`
	On      []string `json:"on"`
	Attempt int      `json:"attempt"`
}

// commands runs the commands of hooks, which read hookJSON.
type commands struct{ hooks.Launcher }

func (commands) Input(d hooks.Delivery) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(hookJSON{eventJSON: eventJSONOf(d.Event), EventID: hooks.EventID(d.Event), Hook: d.Hook, On: d.On, Attempt: d.Attempt})
	return b.Bytes(), err
}

func launcher(a *app.App) (l hooks.Launcher, dir string, err error) {
	if dir, err = a.StateDir(); err != nil {
		return l, dir, err
	}
	own, err := setup.Executable()
	return hooks.Launcher{Executable: own, Env: hooks.CommandEnv(a.Env, dir)}, dir, err
}

// startHooks runs the hooks and the notifiers until stop is called, which waits for their end. The
// runner is nil if none is configured.
func startHooks(ctx context.Context, a *app.App, cfg config.Config, h *host.Host) (runner *hooks.Runner, stop func(), err error) {
	if len(cfg.Hooks) == 0 && len(cfg.Notify.Use) == 0 {
		a.Warn("no hooks are configured: events are only printed", "add [hooks] to "+config.UserFile(a.Getenv)+", see 'swarm config init'")
		return nil, func() {}, nil
	}
	l, dir, err := launcher(a)
	if err != nil {
		return nil, nil, err
	}
	o := hooks.Options{
		Dir: dir, Home: a.Getenv("HOME"), Commands: commands{l}, Notifiers: h.Notifiers(),
		Say: func(text string) { a.Warn(text, "") },
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Hooks)) {
		h := cfg.Hooks[name]
		o.Hooks = append(o.Hooks, hooks.Hook{Name: name, On: h.On, Tags: h.Tags, Command: h.Command, Timeout: h.Timeout})
	}
	for _, plugin := range cfg.Notify.Use {
		o.Hooks = append(o.Hooks, hooks.NewNotifier(plugin, cfg.Notify.On, cfg.Notify.Tags))
	}
	runner = hooks.New(o)
	if err := runner.Prepare(ctx); err != nil {
		return nil, nil, errors.Join(err, runner.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		err := runner.Run(ctx)
		if err = errors.Join(err, runner.Close()); ctx.Err() == nil {
			a.Warn(fmt.Sprintf("the hooks are not run any more: %v", err), "")
		}
	})
	return runner, func() { cancel(); ended.Wait() }, nil
}

// NewRunHook returns the verb that runs the command of one hook for one event.
func NewRunHook(a *app.App) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // a watch starts it
		Use:    hooks.Verb,
		Short:  "Run the command of a hook",
		Long: `Run a command that 'swarm watch --hooks' or '--notify' describes on the standard input,
and print how it ended, both as JSON. The command is ended when its time has run out, even if
the watch is gone.`,
		Example:           `  swarm run-hook < call.json`,
		Args:              command.Arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			output.FinishWriting()
			return hooks.Supervise(cmd.Context(), os.Stdin, a.Out)
		},
	}
}
