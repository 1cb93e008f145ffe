package main

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/plain"
	"github.com/swarmhost/swarm/shared/swarm"
)

type logsOptions struct {
	follow     bool
	lines      countFlag
	since      durationFlag
	stream     *choiceFlag
	timestamps bool
	plain      bool
	json       bool
}

func newLogs(a *app) *cobra.Command {
	o := &logsOptions{}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the output of a worker",
		Long: `Print what a worker wrote, byte for byte, whether it runs or has ended. Output is
kept up to a limit (64 MiB); what was dropped is said on stderr. A worker is never
blocked or ended by its log.`,
		Example: `  swarm logs build
  swarm logs build --follow --lines 20
  swarm logs agent --plain | less
  swarm logs server --stream stderr --since 10m --timestamps
  swarm logs server --json | jq -r 'select(.stream == "stderr") | .text'`,
		Args:              arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.completeOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.logs(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with new output until the worker ends")
	f.VarP(&o.lines, "lines", "n", "begin with the last `N` lines")
	f.Var(&o.since, "since", "only what was written in this time until now")
	o.stream = choice(cmd, "stream", "only one stream", "", string(swarm.Stdout), string(swarm.Stderr))
	f.BoolVarP(&o.timestamps, "timestamps", "t", false, "begin each line with the time when it was written")
	f.BoolVar(&o.plain, "plain", false, "leave out terminal sequences (colours, cursor movement)")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line: time, stream, text, partial (its line goes on), dropped")
	return cmd
}

func (a *app) logs(ctx context.Context, name string, o *logsOptions) error {
	options := swarm.OutputOptions{Stream: swarm.Stream(o.stream.value), Follow: o.follow, Tail: o.lines.n}
	if o.since.d != nil {
		options.Since = time.Now().Add(-*o.since.d)
	}
	return a.withHost(ctx, func(h *host.Host) error {
		p := logPrinter{app: a, timestamps: o.timestamps, plain: o.plain, json: o.json}
		return h.Logs(ctx, name, options, p.print)
	})
}

// logPrinter puts the pieces of a worker's output together again.
type logPrinter struct {
	*app
	timestamps, plain, json bool
	// open is the stream whose line has no end yet.
	open    swarm.Stream
	plainer map[swarm.Stream]*plain.Text
	// half is the beginning of a letter whose rest comes with the next piece.
	half map[swarm.Stream][]byte
}

func (p *logPrinter) print(o swarm.Output) error {
	if o.Dropped > 0 {
		p.warn(fmt.Sprintf("%d bytes of older output are no longer kept", o.Dropped), "")
	}
	if p.json {
		return p.printPiece(o)
	}
	line := make([]byte, 0, len(o.Data)+40)
	if p.timestamps && p.open != o.Stream {
		if p.open != "" {
			line = append(line, '\n')
		}
		line = o.Time.Local().AppendFormat(line, timestampFormat)
	}
	data := o.Data
	if p.plain {
		data = p.plainOf(o.Stream).Strip(data, !o.Partial)
	}
	line = append(line, data...)
	p.open = o.Stream
	if !o.Partial {
		line = append(line, '\n')
		p.open = ""
	}
	_, err := p.out.Write(line)
	return err
}

// logJSON is a piece of output. What is not UTF-8 in it is replaced.
type logJSON struct {
	Time    *string `json:"time"`
	Stream  string  `json:"stream"`
	Text    string  `json:"text"`
	Partial bool    `json:"partial"`
	Dropped int64   `json:"dropped"`
}

func (p *logPrinter) printPiece(o swarm.Output) error {
	data := append(p.half[o.Stream], o.Data...)
	delete(p.half, o.Stream)
	if o.Partial {
		whole := wholeLetters(data)
		if rest := data[whole:]; len(rest) > 0 {
			if p.half == nil {
				p.half = map[swarm.Stream][]byte{}
			}
			p.half[o.Stream] = bytes.Clone(rest)
		}
		data = data[:whole]
	}
	if p.plain {
		data = p.plainOf(o.Stream).Strip(data, !o.Partial)
	}
	return p.printJSONLine(logJSON{
		Time: timeJSON(o.Time), Stream: string(o.Stream), Text: string(data), Partial: o.Partial, Dropped: o.Dropped,
	})
}

// wholeLetters returns how long data is without a letter at its end of which more
// is to come.
func wholeLetters(data []byte) int {
	for i := len(data) - 1; i >= max(0, len(data)-utf8.UTFMax); i-- {
		if utf8.RuneStart(data[i]) {
			if utf8.FullRune(data[i:]) {
				break
			}
			return i
		}
	}
	return len(data)
}

func (p *logPrinter) plainOf(stream swarm.Stream) *plain.Text {
	if p.plainer == nil {
		p.plainer = map[swarm.Stream]*plain.Text{}
	}
	if p.plainer[stream] == nil {
		p.plainer[stream] = &plain.Text{}
	}
	return p.plainer[stream]
}
