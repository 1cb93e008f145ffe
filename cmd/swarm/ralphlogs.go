package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
and pause. What the agent writes is in 'swarm logs NAME'.`,
		Example: `  swarm ralph logs agent
  swarm ralph logs agent --follow --lines 10`,
		Args:              arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: a.completeOneRalph,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.ralphLogs(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with new lines until the loop ends")
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
		return store.Follow(ctx, name, n, print)
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
