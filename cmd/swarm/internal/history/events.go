package history

import (
	"bufio"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
)

type eventsOptions struct {
	worker     string
	since      *time.Duration
	lines      *int
	follow     bool
	timestamps bool
	json       bool
}

func NewEvents(a *app.App) *cobra.Command {
	o := &eventsOptions{}
	cmd := &cobra.Command{
		Use:     "events [flags]",
		Aliases: []string{"messages"},
		Short:   "Print the history of workers",
		Long: `Print the events of workers, in the order in which they were recorded. The history
stays when the workers are gone. A worker ends once, with one of these lines:

  [NAME] COMPLETE: SUMMARY        it reported that it is done (swarm complete)
  [NAME] EXITED: success          it exited with 0
  [NAME] FAILED: exit status 3    it exited with another code, or "signal: terminated"
  [NAME] KILLED: by orchestrator  it was killed, or its owner ended
  [NAME] DIED: process not found  its shim is gone, and its exit is unknown

Nothing is changed: the end of a worker that was not watched is recorded, with the
time when it ended, by the next command that changes something, by "swarm gc", or
by "swarm watch". "swarm messages" is the same command.`,
		Example: `  swarm events
  swarm events --worker agent --since 1h --timestamps
  swarm events --follow --lines 0
  swarm events --json | jq -r '.[] | select(.kind == "COMPLETE") | .text'`,
		Args: func(cmd *cobra.Command, args []string) error {
			err := command.Arguments(0, 0, "")(cmd, args)
			if err != nil {
				err = output.WithHint(err, "the history of one worker: swarm events --worker "+args[0])
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("worker") && o.worker == "" {
				return output.Usagef("--worker is empty")
			}
			return runEvents(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.worker, "worker", "", "only this worker: its `NAME`, or the id of one of its runs")
	f.Var(command.Duration(&o.since), "since", "only events of the last duration, such as 1h")
	f.VarP(command.Count(&o.lines, 0), "lines", "n", "begin with the last `N` events")
	f.BoolVarP(&o.follow, "follow", "f", false, "continue with new events until interrupted")
	f.BoolVarP(&o.timestamps, "timestamps", "t", false, "begin each line with the time of the event")
	f.BoolVar(&o.json, "json", false, "print JSON: an array; with --follow one object a line")
	command.CompleteFlag(cmd, "worker", app.Offer(a.HistoryNames))
	return cmd
}

func runEvents(ctx context.Context, a *app.App, o *eventsOptions) error {
	query := registry.EventQuery{Worker: o.worker, Last: o.lines}
	if o.since != nil {
		query.Since = time.Now().Add(-*o.since)
	}
	return a.WithHost(ctx, func(h *host.Host) error {
		p := eventPrinter{App: a, timestamps: o.timestamps, json: o.json}
		if o.follow {
			return h.History().FollowEvents(ctx, query, p.print)
		}
		if o.json {
			return printArray(a, func(each func(registry.Event) error) error { return h.History().EachEvent(ctx, query, each) })
		}
		return p.printAll(func(each func(registry.Event) error) error { return h.History().EachEvent(ctx, query, each) })
	})
}

type eventPrinter struct {
	*app.App
	timestamps, json bool
}

func (p eventPrinter) print(e registry.Event) error {
	if p.json {
		return p.PrintJSONLine(eventJSONOf(e))
	}
	_, err := p.Out.Write(p.appendLine(nil, e))
	return err
}

// printAll prints the events that run calls its function with, in few system calls.
func (p eventPrinter) printAll(run func(each func(registry.Event) error) error) error {
	out := bufio.NewWriterSize(p.Out, 16<<10)
	err := run(func(e registry.Event) error {
		_, err := out.Write(p.appendLine(out.AvailableBuffer(), e))
		return err
	})
	return errors.Join(err, out.Flush())
}

func (p eventPrinter) appendLine(line []byte, e registry.Event) []byte {
	if p.timestamps {
		line = e.Time.Local().AppendFormat(line, output.TimestampFormat)
	}
	// The line holds text that workers wrote.
	line = append(line, output.Visible(e.String())...)
	return append(line, '\n')
}

// eventJSON is an event as docs/event.schema.json describes it. Fields are only
// ever added, at the end.
type eventJSON struct {
	Seq      int64           `json:"seq"`
	Time     *string         `json:"time"`
	Worker   string          `json:"worker"`
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Text     *string         `json:"text"`
	Final    bool            `json:"final"`
	Previous *string         `json:"previous"`
	Exit     *view.ExitJSON  `json:"exit"`
	Usage    *view.UsageJSON `json:"usage"`
	Tags     []string        `json:"tags"`
}

func eventJSONOf(e registry.Event) eventJSON {
	j := eventJSON{
		Seq: e.Seq, Time: output.TimeJSON(e.Time), Worker: e.Worker, ID: e.ID, Kind: string(e.Kind), Text: output.OrNull(e.Text),
		Final: e.Final, Previous: output.OrNull(e.Previous), Tags: append([]string{}, e.Tags...),
	}
	if e.Exit != nil {
		j.Exit, j.Usage = view.ExitJSONOf(e.Exit), view.UsageJSONOf(e.Exit.Usage)
	}
	return j
}

// printArray prints the events that run calls its function with as one JSON array. If run
// fails before the first of them, nothing is printed.
func printArray(a *app.App, run func(each func(registry.Event) error) error) error {
	list := output.JSONList{Printer: a.Printer}
	if err := run(func(e registry.Event) error { return list.Add(eventJSONOf(e)) }); err != nil {
		return errors.Join(err, list.Flush())
	}
	return list.End()
}
