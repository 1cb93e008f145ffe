package workers

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

type logsOptions struct {
	selection  command.Selection
	follow     bool
	lines      *int
	since      *time.Duration
	run        *int
	stream     *command.ChoiceFlag
	timestamps bool
	plain, raw bool
	grep       *regexp.Regexp
	json       bool
}

func NewLogs(a *app.App) *cobra.Command {
	o := &logsOptions{}
	cmd := &cobra.Command{
		Use:   "logs [NAME...]",
		Short: "Print the output of workers",
		Long: `Print the output of a worker, whether it runs or has ended. A pipe or a file gets the
output byte for byte. A terminal gets text with colours (no colours with NO_COLOR or
TERM=dumb): nothing else changes the terminal, and hidden characters are shown as
escapes. --raw sends the bytes to a terminal too.

The text, on a terminal or with --plain, is what the screen showed: the last state of a
line that was overwritten, such as a progress bar; for a full-screen program, the lines
that scrolled off and its screen at the end ('swarm peek' shows the current screen).
With --follow a line is printed as soon as the program moves to the next one, and again
if the program comes back to change it.

The output of several workers, or with --all or --tag, is merged in the order of time.
Each line begins with the name of its worker. --lines counts the lines of each worker.
If the output of one worker can't be read, the others are printed, and the exit code
is 1.

--follow continues until all selected workers have ended. A worker that is respawned is
followed into its new run. With --all or --tag, workers that are spawned meanwhile are
taken in. A line on stderr says how each worker ended, and if that is a terminal, also when
a restart policy starts one again.

--run prints an earlier run of a worker that was respawned: 1 is the last run before the
present one. The output of the last ten runs is kept until 'swarm clean'; 'previous' in
'swarm ls --json' lists their ids.

--grep prints the lines that match a regular expression (RE2), as text with --plain or
to a pipe. It matches the text without colours and overwritten parts, and --lines
counts the matching lines. It is not an error if no line matches.

Output is kept up to a limit (64 MiB); the size of dropped output is reported on
stderr. The log never blocks or ends a worker.`,
		Example: `  swarm logs build
  swarm logs build --follow --lines 20
  swarm logs build server --since 10m
  swarm logs --tag login --follow
  swarm logs build --run 1
  swarm logs agent --plain | less
  swarm logs build --grep '^(error|warning):' --lines 5
  swarm logs server --stream stderr --since 10m --timestamps
  swarm logs server --json | jq -r 'select(.stream == "stderr") | .text'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.plain && o.raw:
				return output.Usagef("--plain and --raw exclude each other")
			case o.raw && o.grep != nil:
				return output.Usagef("--grep and --raw exclude each other")
			case o.run != nil && o.follow:
				return output.Usagef("--run and --follow exclude each other")
			}
			sel, err := o.selection.Of(cmd, args)
			if err != nil {
				return err
			}
			return a.WithHost(cmd.Context(), func(h *host.Host) error { return runLogs(cmd.Context(), a, h, sel, o) })
		},
	}
	o.selection.AddTo(cmd, a)
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "continue with new output until the workers end")
	f.Var(command.Pattern(&o.grep), "grep", "only lines whose text matches the regular expression `RE`")
	f.VarP(command.Count(&o.lines, 0), "lines", "n", "begin with the last `N` lines of each worker")
	f.Var(command.Count(&o.run, 0), "run", "the `N`th run before the present one")
	f.Var(command.Duration(&o.since), "since", "only output of the last duration, such as 10m")
	o.stream = command.Choice(cmd, "stream", "only one stream", "", string(swarm.Stdout), string(swarm.Stderr))
	f.BoolVarP(&o.timestamps, "timestamps", "t", false, "begin each line with the time when it was written")
	f.BoolVar(&o.plain, "plain", false, "as text: without colours, each line as it was last on the screen")
	f.BoolVar(&o.raw, "raw", false, "every byte as it was written, on a terminal too, which it may change")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line: time, stream, text, partial (its line continues), dropped, and worker if there are several; with --plain a line of text each")
	return cmd
}

func runLogs(ctx context.Context, a *app.App, h *host.Host, sel worker.Selection, o *logsOptions) error {
	req := display.LogsRequest{
		Output: swarm.OutputOptions{Stream: swarm.Stream(o.stream.Value), Follow: o.follow, Tail: o.lines},
		Run:    output.ValueOr(o.run, 0),
	}
	if o.since != nil {
		req.Output.Since = time.Now().Add(-*o.since)
	}
	p := &LogPrinter{App: a, timestamps: o.timestamps, json: o.json, Live: o.follow, last: o.lines, grep: o.grep}
	if !o.raw && !o.json {
		p.Form = FormOfLogs(a)
	}
	p.Form.plain = p.Form.plain || o.plain || o.grep != nil && !p.Form.terminal
	var err error
	if several := len(sel.Names) != 1; several {
		if p.labels, err = labelsOf(ctx, a, h, sel, p.Form.terminal); err != nil {
			return err
		}
		p.last = nil
		if len(p.labels) == 0 && !o.follow {
			a.NoWorkers(sel, "")
		}
	}
	if p.grep != nil && req.Output.Tail != nil {
		// The last lines that match may be anywhere.
		last := *req.Output.Tail
		req.Output.Tail, p.last = nil, nil
		if p.skip, err = countMatches(ctx, h, sel, req, p); err != nil {
			return err
		}
		for name, n := range p.skip {
			p.skip[name] = max(0, n-last)
		}
	}
	return printLogs(ctx, a, h, sel, req, p)
}

// FollowLogs prints the output that workers write from a moment on, until all of them have
// ended.
func FollowLogs(ctx context.Context, a *app.App, h *host.Host, names []string, since time.Time) error {
	p := &LogPrinter{App: a, Live: true, Form: FormOfLogs(a)}
	sel := worker.Selection{Names: names}
	var err error
	if p.labels, err = labelsOf(ctx, a, h, sel, p.Form.terminal); err != nil {
		return err
	}
	return printLogs(ctx, a, h, sel, display.LogsRequest{Output: swarm.OutputOptions{Follow: true, Since: since}}, p)
}

// printLogs prints the output of the selected workers, and how they ended if they are
// followed.
func printLogs(ctx context.Context, a *app.App, h *host.Host, sel worker.Selection, req display.LogsRequest, p *LogPrinter) error {
	var failed []error
	req.Respawned = func(w worker.Worker) { p.note(p.keyOf(w.Name), w.Name+": respawned"+view.SpawnedWhere(w)) }
	if a.ErrWidth() > 0 && !p.json {
		req.Restarting = func(w worker.Worker, text string) {
			p.interject(p.keyOf(w.Name), func() { a.Tip(w.Name + ": " + text) })
		}
	}
	if p.labels != nil && len(sel.Names) == 0 {
		req.New = func(w worker.Worker) {
			p.addLabel(w.Name)
			p.note(w.Name, w.Name+": spawned"+view.SpawnedWhere(w))
		}
	}
	req.Ended = func(end display.LogsEnd) {
		switch {
		case end.Err != nil:
			failed = append(failed, logsFailed(end, p.labels != nil))
		case req.Output.Follow:
			p.note(p.keyOf(end.Worker.Name), view.StatusLine(end.Worker, time.Now()))
		}
	}
	err := p.runOf(func(each func(string, swarm.Output) error) error {
		warnings, err := h.Display().LogsOf(ctx, sel, req, func(name string, o swarm.Output) error { return each(p.keyOf(name), o) })
		a.WarnAll(warnings)
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(failed...)
}

func logsFailed(end display.LogsEnd, several bool) error {
	_, named := errors.AsType[*display.NoRunError](end.Err)
	if !several || named || errors.Is(end.Err, swarm.ErrNotFound) {
		return end.Err
	}
	return fmt.Errorf("cannot read the output of '%s': %w", end.Worker.Name, end.Err)
}

// countMatches returns how many lines of the output that there is now match, for each
// worker. It reads them as those are read that p prints.
func countMatches(ctx context.Context, h *host.Host, sel worker.Selection, req display.LogsRequest, p *LogPrinter) (map[string]int, error) {
	counter := &LogPrinter{
		Form: LogForm{plain: true}, Live: p.Live || p.labels != nil, grep: p.grep, found: map[string]int{},
	}
	req.Output.Follow = false
	_, err := h.Display().LogsOf(ctx, sel, req, func(name string, o swarm.Output) error {
		o.Dropped = 0 // p warns of it
		return counter.printOf(p.keyOf(name), o)
	})
	counter.closeScreens(func(logSource) bool { return true })
	return counter.found, err
}

// labelColours are the colours of names, as parameters of SGR. Red is left to errors.
var labelColours = []int{36, 33, 32, 35, 34, 96, 93, 92, 95, 94}

// mostLabel is the largest width of a name on a terminal. A pipe gets the whole name.
const mostLabel = 24

func labelsOf(ctx context.Context, a *app.App, h *host.Host, sel worker.Selection, terminal bool) (map[string]string, error) {
	names, err := h.Roster().Names(ctx, sel)
	if err != nil {
		return nil, err
	}
	return labels(names, terminal, a.Colours()), nil
}

// labels returns a label for each worker, all of the same width.
func labels(names []string, terminal, coloured bool) map[string]string {
	most := 0
	shown := map[string]string{}
	for _, name := range names {
		shown[name] = name
		if terminal {
			shown[name] = output.Cut(name, mostLabel)
		}
		most = max(most, output.Columns(shown[name]))
	}
	colours := coloursOf(names)
	for name, text := range shown {
		text = output.Padded(text, most)
		if coloured {
			shown[name] = "\x1b[" + strconv.Itoa(colours[name]) + "m" + text + " |\x1b[0m "
		} else {
			shown[name] = text + " | "
		}
	}
	return shown
}

// coloursOf returns a colour for each name. A name has the same colour in every call,
// unless another name has taken it: as long as there are enough, no two are the same.
func coloursOf(names []string) map[string]int {
	taken := make([]bool, len(labelColours))
	all := map[string]int{}
	for i, name := range slices.Sorted(slices.Values(names)) {
		sum := fnv.New32a()
		sum.Write([]byte(name))
		at := int(sum.Sum32() % uint32(len(labelColours)))
		for i < len(labelColours) && taken[at] {
			at = (at + 1) % len(labelColours)
		}
		taken[at] = true
		all[name] = labelColours[at]
	}
	return all
}
