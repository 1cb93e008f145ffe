package main

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
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
)

type ralphLogsOptions struct {
	follow, live bool
	lines        countFlag
	json         bool
}

func newRalphLogs(a *app) *cobra.Command {
	o := &ralphLogsOptions{}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print what happened in the iterations of a loop",
		Long: `Print the log of a loop's iterations: a line for each start, end, failure, time-out
and pause. 'swarm logs NAME' prints the output of the agent.`,
		Example: `  swarm ralph logs agent
  swarm ralph logs agent --follow --lines 10`,
		Args:              arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: a.completeOneRalph(),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.ralphLogs(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "continue with new lines until the loop ends")
	f.BoolVar(&o.live, "live", false, "the same as --follow")
	f.VarP(&o.lines, "lines", "n", "begin with the last `N` lines")
	f.BoolVar(&o.json, "json", false, "print a JSON object for each line")
	return cmd
}

func (a *app) ralphLogs(ctx context.Context, name string, o *ralphLogsOptions) error {
	store, err := a.ralphStore()
	if err != nil {
		return err
	}
	if _, err := store.Load(name); errors.Is(err, ralph.ErrNoState) {
		return err
	}
	n := -1
	if o.lines.n != nil {
		n = *o.lines.n
	}
	print := func(line string) error {
		if o.json {
			return a.printJSONLine(loopEventJSONOf(line))
		}
		a.printf("%s\n", visible(line))
		return a.out.err
	}
	if o.follow || o.live {
		return a.ralphFollowLog(ctx, store, name, n, print)
	}
	lines, err := store.Tail(name, n)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no iteration log found for worker '%s'", name)
	}
	for _, line := range lines {
		if err := print(line); err != nil {
			break // told at the end
		}
	}
	return err
}

// ralphFollowLog follows the log of a loop until the loop or its worker has ended.
func (a *app) ralphFollowLog(ctx context.Context, store ralph.Store, name string, n int, print func(string) error) error {
	return a.withHost(ctx, func(h *host.Host) error {
		waitCtx, cancel := context.WithCancel(ctx)
		gone := make(chan struct{})
		var waiting sync.WaitGroup
		waiting.Go(func() {
			switch err := awaitLoop(waitCtx, h, store, name); {
			case err == nil:
				close(gone)
			case waitCtx.Err() == nil:
				// The loop's state tells its end, too, unless the loop is killed.
				a.warn(fmt.Sprintf("cannot wait for the end of worker '%s': %s", name, setup.Message(err)), "")
			}
		})
		err := store.Follow(ctx, name, n, gone, print)
		cancel()
		waiting.Wait()
		return err
	})
}

// awaitLoop returns when the worker of a loop has ended, or does not exist.
func awaitLoop(ctx context.Context, h *host.Host, store ralph.Store, name string) error {
	// A call that starts the worker right now has written the state before.
	release, err := store.Starting(ctx, name)
	if err != nil {
		return err
	}
	release()
	workers, _, err := h.Workers(ctx, host.Selection{Names: []string{name}})
	if errors.Is(err, host.ErrNotFound) || err == nil && !workers[0].Ralph {
		return nil
	}
	if err != nil {
		return err
	}
	var last host.Worker
	err = h.Wait(ctx, host.Selection{Names: []string{workers[0].ID}}, func(w host.Worker) { last = w })
	switch {
	case errors.Is(err, host.ErrNotFound):
		return nil
	case err == nil && !last.Gone():
		err = errors.New(last.Reason)
	}
	return err
}

// loopEventJSON is a line of the log.
type loopEventJSON struct {
	Time  *string `json:"time"`
	Event string  `json:"event"`
	Text  string  `json:"text"`
}

func loopEventJSONOf(line string) loopEventJSON {
	at, rest, _ := strings.Cut(line, " [")
	event, text, _ := strings.Cut(rest, "] ")
	j := loopEventJSON{Event: event, Text: text}
	if t, err := time.ParseInLocation("2006-01-02T15:04:05", at, time.Local); err == nil {
		j.Time = timeJSON(t)
	}
	return j
}
