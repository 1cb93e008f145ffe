package workers

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/screen"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// LogForm says how a worker's output is shown. Its zero value shows it byte for byte.
type LogForm struct {
	// plain leaves out terminal sequences.
	plain bool
	// terminal leaves out those that change a terminal, which are all but colours,
	// and shows hidden characters.
	terminal bool
}

// FormOfLogs returns the form that suits stdout.
func FormOfLogs(a *app.App) LogForm {
	terminal := a.OutWidth() > 0
	return LogForm{terminal: terminal, plain: terminal && !a.Colours()}
}

// LogPrinter puts the pieces of a worker's output together again.
type LogPrinter struct {
	*app.App
	Form             LogForm
	timestamps, json bool
	// Live shows lines early, for followers of the output.
	Live bool
	// last is how many lines of text are wanted, for what is not followed; nil: all. The
	// last lines of the output may be more of them, such as the picture of a full-screen
	// program.
	last *int
	// grep is the pattern that lines have to match; nil prints all. skip is how many
	// matching lines are left out at first; skipping says that the last line was one of
	// them.
	grep     *regexp.Regexp
	skip     int
	skipping bool
	joined   map[swarm.Stream]*screen.Lines
	// open is the stream whose line has no end yet.
	open swarm.Stream
	// screens make text of the streams, unless they are shown byte for byte.
	screens map[swarm.Stream]*screen.Screen
	// half is the beginning of a character whose rest comes with the next piece.
	half map[swarm.Stream][]byte
	// dropped is how much output is missing before the next piece.
	dropped int64
	// line is the buffer of one write, err the error of that write.
	line []byte
	err  error
}

// Print prints a piece of output.
func (p *LogPrinter) Print(o swarm.Output) error {
	if o.Dropped > 0 {
		p.Warn(fmt.Sprintf("%d bytes of older output were dropped", o.Dropped), "")
	}
	p.dropped += o.Dropped
	switch {
	case p.Form.plain || p.Form.terminal:
		s := p.screenOf(o.Stream)
		s.Write(o.Data, o.Time)
		if !o.Partial {
			s.Write([]byte{'\n'}, o.Time)
		}
		return p.err
	case p.json:
		return p.printJSON(o.Stream, o.Time, p.letters(o), o.Partial)
	}
	p.begin(o.Stream, o.Time, false)
	p.line = append(p.line, o.Data...)
	return p.end(!o.Partial)
}

// screenOf returns what makes text of a stream.
func (p *LogPrinter) screenOf(stream swarm.Stream) *screen.Screen {
	if s := p.screens[stream]; s != nil {
		return s
	}
	if p.screens == nil {
		p.screens = map[swarm.Stream]*screen.Screen{}
	}
	s := &screen.Screen{Live: p.Live, Colours: p.Form.terminal && !p.Form.plain}
	s.Line = func(l screen.Line) {
		if p.err == nil {
			p.err = p.printText(stream, l)
		}
	}
	if p.grep != nil {
		s.Line = p.joinedOf(stream, s.Line).Add
	}
	p.screens[stream] = s
	// A terminal has one stream. The lines of two are shown in their order.
	for _, s := range p.screens {
		s.Live = s.Live || len(p.screens) > 1
	}
	return s
}

// joinedOf returns the filter of a stream, which passes on its matching lines except
// skipped ones.
func (p *LogPrinter) joinedOf(stream swarm.Stream, line func(screen.Line)) *screen.Lines {
	joined := &screen.Lines{Pattern: p.grep, Line: func(l screen.Line) {
		if l.Begins {
			if p.skipping = p.skip > 0; p.skipping {
				p.skip--
			}
		}
		if !p.skipping {
			line(l)
		}
	}}
	if p.joined == nil {
		p.joined = map[swarm.Stream]*screen.Lines{}
	}
	p.joined[stream] = joined
	return joined
}

// printText prints a line of text, or a piece of one.
func (p *LogPrinter) printText(stream swarm.Stream, l screen.Line) error {
	if p.json {
		return p.printJSON(stream, l.Time, l.Text, !l.Ends)
	}
	p.begin(stream, l.Time, l.Begins)
	if p.Form.terminal {
		p.line = append(p.line, safeColours(l.Text)...)
	} else {
		p.line = append(p.line, l.Text...)
	}
	return p.end(l.Ends)
}

// begin begins a line, unless the open one goes on. fresh says that it does not.
func (p *LogPrinter) begin(stream swarm.Stream, at time.Time, fresh bool) {
	if p.open == stream && !fresh {
		return
	}
	if p.open != "" && (p.timestamps || len(p.screens) > 0) {
		p.line = append(p.line, '\n')
	}
	if p.timestamps {
		p.line = at.Local().AppendFormat(p.line, output.TimestampFormat)
	}
	p.open = stream
}

// end ends a line, or a piece of one. Followers see it at once.
func (p *LogPrinter) end(ends bool) error {
	if ends {
		p.line = append(p.line, '\n')
		p.open = ""
	}
	switch {
	case p.Live || len(p.screens) == 0:
		return p.flush()
	case p.last != nil:
		if len(p.line) > lastBuffer {
			p.line = lastLines(p.line, *p.last)
		}
	case len(p.line) > logBuffer:
		return p.flush()
	}
	return nil
}

const (
	// logBuffer is the largest size of one write.
	logBuffer = 32 << 10
	// lastBuffer is how much text is collected before all but the last lines are dropped.
	lastBuffer = 4 << 20
)

// lastLines returns the last n lines of text.
func lastLines(text []byte, n int) []byte {
	if n <= 0 {
		return nil
	}
	at := len(bytes.TrimSuffix(text, []byte{'\n'}))
	for range n {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

func (p *LogPrinter) flush() error {
	_, err := p.Out.Write(p.line)
	p.line = p.line[:0]
	return err
}

// settled is how long a follower waits for more output before it sees an unfinished line,
// such as a prompt, or the picture of a full-screen program.
const settled = 300 * time.Millisecond

// Run prints all output that read gives to each.
func (p *LogPrinter) Run(read func(each func(swarm.Output) error) error) error {
	var mu sync.Mutex
	written, over := make(chan struct{}, 1), make(chan struct{})
	var settling sync.WaitGroup
	if p.Live && (p.Form.plain || p.Form.terminal) {
		settling.Go(func() {
			quiet := time.NewTimer(settled)
			defer quiet.Stop()
			for {
				select {
				case <-written:
					quiet.Reset(settled)
				case <-quiet.C:
					mu.Lock()
					p.settle()
					mu.Unlock()
				case <-over:
					return
				}
			}
		})
	}
	err := read(func(o swarm.Output) error {
		select {
		case written <- struct{}{}:
		default:
		}
		mu.Lock()
		defer mu.Unlock()
		return p.Print(o)
	})
	close(over)
	settling.Wait()
	if closeErr := p.close(); err == nil {
		err = closeErr
	}
	return err
}

// settle prints the contents of the screens. A failure is returned by print.
func (p *LogPrinter) settle() {
	for stream, s := range p.screens {
		s.Settle()
		if joined := p.joined[stream]; joined != nil {
			joined.Settle()
		}
	}
}

// close prints the rest of the output.
func (p *LogPrinter) close() error {
	for _, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
		if s := p.screens[stream]; s != nil {
			s.Close()
		}
		if joined := p.joined[stream]; joined != nil {
			joined.Close()
		}
	}
	if p.last != nil && !p.Live {
		p.line = lastLines(p.line, *p.last)
	}
	if p.err == nil && len(p.line) > 0 {
		p.err = p.flush()
	}
	return p.err
}

// logJSON is a piece of output, or a line of text. Bytes that are not UTF-8 are replaced.
type logJSON struct {
	Time    *string `json:"time"`
	Stream  string  `json:"stream"`
	Text    string  `json:"text"`
	Partial bool    `json:"partial"`
	Dropped int64   `json:"dropped"`
}

func (p *LogPrinter) printJSON(stream swarm.Stream, at time.Time, text []byte, partial bool) error {
	dropped := p.dropped
	p.dropped = 0
	return p.PrintJSONLine(logJSON{Time: output.TimeJSON(at), Stream: string(stream), Text: string(text), Partial: partial, Dropped: dropped})
}

// letters returns the piece without an incomplete character at its end, and with the
// beginning of its first character that came before.
func (p *LogPrinter) letters(o swarm.Output) []byte {
	data := append(p.half[o.Stream], o.Data...)
	delete(p.half, o.Stream)
	if !o.Partial {
		return data
	}
	whole := safetext.Whole(data)
	if rest := data[len(whole):]; len(rest) > 0 {
		if p.half == nil {
			p.half = map[swarm.Stream][]byte{}
		}
		p.half[o.Stream] = bytes.Clone(rest)
	}
	return whole
}

// safeColours makes all of a worker's output harmless except its colours, which are the
// only sequences in text.
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
