package ralph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

type logsOptions struct {
	follow, live bool
	lines        *int
	json         bool
}

func newLogs(a *app.App) *cobra.Command {
	o := &logsOptions{}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print what happened in the iterations of a loop",
		Long: `Print the log of a loop's iterations: a line for each start, end, failure, time-out
and pause. 'swarm logs NAME' prints the output of the agent.`,
		Example: `  swarm ralph logs agent
  swarm ralph logs agent --follow --lines 10`,
		Args:              command.Arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: app.OfferOne(loopNames(a)),
		RunE:              func(cmd *cobra.Command, args []string) error { return runLogs(cmd.Context(), a, args[0], o) },
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "continue with new lines until the loop ends")
	f.BoolVar(&o.live, "live", false, "the same as --follow")
	f.VarP(command.Count(&o.lines, 0), "lines", "n", "begin with the last `N` lines")
	f.BoolVar(&o.json, "json", false, "print a JSON object for each line")
	return cmd
}

func runLogs(ctx context.Context, a *app.App, name string, o *logsOptions) error {
	loops, err := a.RalphStore()
	if err != nil {
		return err
	}
	if _, err := loops.Load(name); errors.Is(err, ralph.ErrNoState) {
		return err
	}
	n := output.ValueOr(o.lines, -1)
	print := func(line string) error {
		if o.json {
			return a.PrintJSONLine(loopEventJSONOf(line))
		}
		a.Printf("%s\n", output.Visible(line))
		return a.Out.Err
	}
	if o.follow || o.live {
		return ralphFollowLog(ctx, a, loops, name, n, print)
	}
	lines, err := loops.Tail(name, n)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no iteration log found for worker '%s'", name)
	}
	for _, line := range lines {
		if err := print(line); err != nil {
			break // reported at the end
		}
	}
	return err
}

func ralphFollowLog(ctx context.Context, a *app.App, loops ralph.Store, name string, n int, print func(string) error) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		waitCtx, cancel := context.WithCancel(ctx)
		gone := make(chan struct{})
		var waiting sync.WaitGroup
		waiting.Go(func() {
			switch err := awaitLoop(waitCtx, h, loops, name); {
			case err == nil:
				close(gone)
			case waitCtx.Err() == nil:
				// The loop's state shows its end too, unless the loop was killed.
				a.Warn(fmt.Sprintf("cannot wait for the end of worker '%s': %s", name, setup.Message(err)), "")
			}
		})
		err := loops.Follow(ctx, name, n, gone, func(text string) { a.Warn(text, "") }, print)
		cancel()
		waiting.Wait()
		return err
	})
}

// awaitLoop returns when the worker of a loop has ended, or does not exist.
func awaitLoop(ctx context.Context, h *host.Host, loops ralph.Store, name string) error {
	// A call that starts the worker right now has written the state before.
	release, err := loops.Claim(ctx, name)
	if err != nil {
		return err
	}
	release()
	workers, _, err := h.Workers(ctx, worker.Selection{Names: []string{name}})
	if errors.Is(err, store.ErrNotFound) || err == nil && !workers[0].Ralph {
		return nil
	}
	if err != nil {
		return err
	}
	var last worker.Worker
	err = h.Wait(ctx, worker.Selection{Names: []string{workers[0].ID}}, func(w worker.Worker) { last = w })
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err == nil && !last.Gone():
		err = errors.New(last.Reason)
	}
	return err
}

type loopEventJSON struct {
	Time  *string `json:"time"`
	Event string  `json:"event"`
	Text  string  `json:"text"`
}

func loopEventJSONOf(line string) loopEventJSON {
	at, rest, _ := strings.Cut(line, " [")
	event, text, _ := strings.Cut(rest, "] ")
	j := loopEventJSON{Event: event, Text: text}
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		j.Time = output.TimeJSON(t)
	}
	return j
}
