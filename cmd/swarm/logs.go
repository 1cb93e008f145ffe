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
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

type logsOptions struct {
	follow     bool
	lines      countFlag
	since      durationFlag
	stream     *choiceFlag
	timestamps bool
	plain, raw bool
	json       bool
}

func newLogs(a *app) *cobra.Command {
	o := &logsOptions{}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the output of a worker",
		Long: `Print what a worker wrote, whether it runs or has ended. To a pipe or a file it goes
byte for byte. On a terminal it is text with its colours (none with NO_COLOR or
TERM=dumb): other terminal sequences are left out, so that nothing changes the
terminal, and hidden characters are shown as escapes. --raw gives a terminal the
bytes too; 'swarm peek' shows the screen of a full-screen program.

Output is kept up to a limit (64 MiB); what was dropped is said on stderr. A worker
is never blocked or ended by its log.`,
		Example: `  swarm logs build
  swarm logs build --follow --lines 20
  swarm logs agent --plain | less
  swarm logs server --stream stderr --since 10m --timestamps
  swarm logs server --json | jq -r 'select(.stream == "stderr") | .text'`,
		Args:              arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.completeOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.plain && o.raw {
				return usagef("--plain and --raw exclude each other")
			}
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
	f.BoolVar(&o.raw, "raw", false, "every byte as it was written, on a terminal too, which it may change")
	f.BoolVar(&o.json, "json", false, "print one JSON object a line: time, stream, text, partial (its line goes on), dropped")
	return cmd
}

func (a *app) logs(ctx context.Context, name string, o *logsOptions) error {
	options := swarm.OutputOptions{Stream: swarm.Stream(o.stream.value), Follow: o.follow, Tail: o.lines.n}
	if o.since.d != nil {
		options.Since = time.Now().Add(-*o.since.d)
	}
	return a.withHost(ctx, func(h *host.Host) error {
		p := logPrinter{app: a, timestamps: o.timestamps, json: o.json}
		if !o.raw && !o.json {
			p.form = a.logForm()
		}
		p.form.plain = p.form.plain || o.plain
		return h.Logs(ctx, name, options, p.print)
	})
}

// logForm is how a worker's output is shown. Its zero value is byte for byte.
type logForm struct {
	// plain leaves out terminal sequences.
	plain bool
	// terminal leaves out those that change a terminal, which are all but colours,
	// and shows hidden characters.
	terminal bool
}

// logForm returns what is fit for stdout.
func (a *app) logForm() logForm {
	terminal := a.outWidth() > 0
	return logForm{terminal: terminal, plain: terminal && !a.colours()}
}

// logPrinter puts the pieces of a worker's output together again.
type logPrinter struct {
	*app
	form             logForm
	timestamps, json bool
	// open is the stream whose line has no end yet.
	open  swarm.Stream
	texts map[swarm.Stream]*plain.Text
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
	switch {
	case p.form.terminal:
		text := p.textOf(o.Stream).Strip(p.letters(o), !o.Partial)
		data = safeColours(text)
	case p.form.plain:
		data = p.textOf(o.Stream).Strip(data, !o.Partial)
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
	data := p.letters(o)
	if p.form.plain {
		data = p.textOf(o.Stream).Strip(data, !o.Partial)
	}
	return p.printJSONLine(logJSON{
		Time: timeJSON(o.Time), Stream: string(o.Stream), Text: string(data), Partial: o.Partial, Dropped: o.Dropped,
	})
}

// letters returns the piece without a letter at its end of which more is to come,
// and with the beginning of its first one that came before.
func (p *logPrinter) letters(o swarm.Output) []byte {
	data := append(p.half[o.Stream], o.Data...)
	delete(p.half, o.Stream)
	if !o.Partial {
		return data
	}
	whole := wholeLetters(data)
	if rest := data[whole:]; len(rest) > 0 {
		if p.half == nil {
			p.half = map[swarm.Stream][]byte{}
		}
		p.half[o.Stream] = bytes.Clone(rest)
	}
	return data[:whole]
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

// textOf returns what makes text of a stream.
func (p *logPrinter) textOf(stream swarm.Stream) *plain.Text {
	if p.texts == nil {
		p.texts = map[swarm.Stream]*plain.Text{}
	}
	if p.texts[stream] == nil {
		p.texts[stream] = &plain.Text{Colours: p.form.terminal && !p.form.plain}
	}
	return p.texts[stream]
}

// safeColours makes harmless what is left of a worker's output beside its colours,
// which are the only sequences in text.
func safeColours(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		before, rest, found := bytes.Cut(text, []byte{'\x1b'})
		out = append(out, safetext.Block(string(before))...)
		if !found {
			break
		}
		colour, after, _ := bytes.Cut(rest, []byte{'m'})
		out = append(append(append(out, '\x1b'), colour...), 'm')
		text = after
	}
	return out
}
