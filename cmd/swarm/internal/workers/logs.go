package workers

import (
	"context"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

type logsOptions struct {
	follow     bool
	lines      command.CountFlag
	since      command.DurationFlag
	stream     *command.ChoiceFlag
	timestamps bool
	plain, raw bool
	grep       command.PatternFlag
	json       bool
}

func NewLogs(a *app.App) *cobra.Command {
	o := &logsOptions{}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the output of a worker",
		Long: `Print the output of a worker, whether it runs or has ended. A pipe or a file gets the
output byte for byte. A terminal gets text with colours (no colours with NO_COLOR or
TERM=dumb): nothing else changes the terminal, and hidden characters are shown as
escapes. --raw sends the bytes to a terminal too.

The text, on a terminal or with --plain, is what the screen showed: the last state of a
line that was overwritten, such as a progress bar; for a full-screen program, the lines
that scrolled off and its screen at the end ('swarm peek' shows the current screen).
With --follow a line is printed as soon as the program moves to the next one, and again
if the program comes back to change it.

--grep prints the lines that match a regular expression (RE2), as text with --plain or
to a pipe. It matches the text without colours and overwritten parts, and --lines
counts the matching lines. It is not an error if no line matches.

Output is kept up to a limit (64 MiB); the size of dropped output is reported on
stderr. The log never blocks or ends a worker.`,
		Example: `  swarm logs build
  swarm logs build --follow --lines 20
  swarm logs agent --plain | less
  swarm logs build --grep '^(error|warning):' --lines 5
  swarm logs server --stream stderr --since 10m --timestamps
  swarm logs server --json | jq -r 'select(.stream == "stderr") | .text'`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.plain && o.raw {
				return output.Usagef("--plain and --raw exclude each other")
			}
			if o.raw && o.grep.Regexp != nil {
				return output.Usagef("--grep and --raw exclude each other")
			}
			return runLogs(cmd.Context(), a, args[0], o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "continue with new output until the worker ends")
	f.Var(&o.grep, "grep", "only lines whose text matches the regular expression `RE`")
	f.VarP(&o.lines, "lines", "n", "begin with the last `N` lines")
	f.Var(&o.since, "since", "only output of the last duration, such as 10m")
	o.stream = command.Choice(cmd, "stream", "only one stream", "", string(swarm.Stdout), string(swarm.Stderr))
	f.BoolVarP(&o.timestamps, "timestamps", "t", false, "begin each line with the time when it was written")
	f.BoolVar(&o.plain, "plain", false, "as text: without colours, each line as it was last on the screen")
	f.BoolVar(&o.raw, "raw", false, "every byte as it was written, on a terminal too, which it may change")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line: time, stream, text, partial (its line goes on), dropped; with --plain a line of text each")
	return cmd
}

func runLogs(ctx context.Context, a *app.App, name string, o *logsOptions) error {
	options := swarm.OutputOptions{Stream: swarm.Stream(o.stream.Value), Follow: o.follow, Tail: o.lines.N}
	if o.since.D != nil {
		options.Since = time.Now().Add(-*o.since.D)
	}
	return a.WithHost(ctx, func(h *host.Host) error {
		p := LogPrinter{App: a, timestamps: o.timestamps, json: o.json, Live: o.follow, last: o.lines.N, grep: o.grep.Regexp}
		if !o.raw && !o.json {
			p.Form = FormOfLogs(a)
		}
		p.Form.plain = p.Form.plain || o.plain || o.grep.Regexp != nil && !p.Form.terminal
		if p.grep != nil && p.last != nil {
			// The last lines that match may be anywhere.
			options.Tail, p.last = nil, nil
			n, err := countMatches(ctx, h, name, options, p.grep)
			if err != nil {
				return err
			}
			p.skip = max(0, n-*o.lines.N)
		}
		return p.Run(func(each func(swarm.Output) error) error { return h.Logs(ctx, name, options, each) })
	})
}

// countMatches returns how many lines of the output that there is now match. It reads
// them as those are read that are printed.
func countMatches(ctx context.Context, h *host.Host, name string, options swarm.OutputOptions, re *regexp.Regexp) (n int, err error) {
	screens := map[swarm.Stream]*screen.Screen{}
	var joined []*screen.Lines
	live := options.Follow
	options.Follow = false
	err = h.Logs(ctx, name, options, func(o swarm.Output) error {
		s := screens[o.Stream]
		if s == nil {
			lines := &screen.Lines{Pattern: re, Line: func(l screen.Line) {
				if l.Begins {
					n++
				}
			}}
			s = &screen.Screen{Live: live, Line: lines.Add}
			screens[o.Stream], joined = s, append(joined, lines)
		}
		for _, s := range screens {
			s.Live = s.Live || len(screens) > 1
		}
		s.Write(o.Data, time.Time{})
		if !o.Partial {
			s.Write([]byte{'\n'}, time.Time{})
		}
		return nil
	})
	for _, s := range screens {
		s.Close()
	}
	for _, lines := range joined {
		lines.Close()
	}
	return n, err
}
