package workers

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
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

// LogPrinter puts the pieces of workers' output together again.
type LogPrinter struct {
	*app.App
	Form             LogForm
	timestamps, json bool
	// Live shows lines early, for followers of the output.
	Live bool
	// labels are what lines of several workers begin with, by the workers' names; nil: there
	// is one worker.
	labels map[string]string
	// last is how many lines of text are wanted, for what is not followed; nil: all. The
	// last lines of the output may be more of them, such as the picture of a full-screen
	// program.
	last *int
	// grep is the pattern that lines have to match; nil prints all. skip is how many
	// matching lines of each worker are left out at first.
	grep   *regexp.Regexp
	skip   map[string]int
	joined map[logSource]*screen.Lines
	// found is how many lines of each worker match; nil: lines are printed, not counted.
	found map[string]int
	// mu is for the time in which lines are printed early.
	mu sync.Mutex
	// open is where the line comes from that has no end yet.
	open logSource
	// screens make text of the streams, unless they are shown byte for byte.
	screens map[logSource]*screen.Screen
	// half is the beginning of a character whose rest comes with the next piece.
	half map[logSource][]byte
	// dropped is how much output is missing before the next piece of a worker.
	dropped map[string]int64
	// written is when a worker's last output came that may not be shown yet.
	written map[string]time.Time
	// line is the buffer of one write, err the error of that write.
	line []byte
	err  error
}

// logSource is one stream of a worker. The worker's name is empty if there is one worker.
type logSource struct {
	worker string
	stream swarm.Stream
}

// keyOf returns the name of a worker if there are several, else an empty one.
func (p *LogPrinter) keyOf(name string) string {
	if p.labels == nil {
		return ""
	}
	return name
}

func (p *LogPrinter) addLabel(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.labels[name] == "" {
		names := append(slices.Collect(maps.Keys(p.labels)), name)
		p.labels[name] = labels(names, p.Form.terminal, p.Colours())[name]
	}
}

// Print prints a piece of the output of the one worker.
func (p *LogPrinter) Print(o swarm.Output) error { return p.printOf("", o) }

func (p *LogPrinter) printOf(worker string, o swarm.Output) error {
	from := logSource{worker, o.Stream}
	if o.Dropped > 0 {
		p.warnDropped(worker, o.Dropped)
	}
	switch {
	case p.Form.plain || p.Form.terminal:
		s := p.screenOf(from)
		s.Write(o.Data, o.Time)
		if !o.Partial {
			s.Write([]byte{'\n'}, o.Time)
		}
		return p.err
	case p.json:
		return p.printJSON(from, o.Time, p.letters(from, o), o.Partial)
	}
	p.begin(from, o.Time, false)
	p.line = append(p.line, o.Data...)
	return p.end(!o.Partial)
}

func (p *LogPrinter) warnDropped(worker string, bytes int64) {
	text := fmt.Sprintf("%d bytes of older output were dropped", bytes)
	if worker != "" {
		text = fmt.Sprintf("'%s': %s", worker, text)
	}
	p.Warn(text, "")
	if p.dropped == nil {
		p.dropped = map[string]int64{}
	}
	p.dropped[worker] += bytes
}

func (p *LogPrinter) screenOf(from logSource) *screen.Screen {
	if s := p.screens[from]; s != nil {
		return s
	}
	if p.screens == nil {
		p.screens, p.joined = map[logSource]*screen.Screen{}, map[logSource]*screen.Lines{}
	}
	s := &screen.Screen{Live: p.Live || p.labels != nil, Colours: p.Form.terminal && !p.Form.plain}
	s.Line = func(l screen.Line) {
		switch {
		case p.found != nil && l.Begins:
			p.found[from.worker]++
		case p.found == nil && p.err == nil:
			p.err = p.printText(from, l)
		}
	}
	if p.grep != nil {
		s.Line = p.joinedOf(from, s.Line).Add
	}
	p.screens[from] = s
	// A terminal has one stream. The lines of two are shown in their order.
	for _, s := range p.screens {
		s.Live = s.Live || len(p.screens) > 1
	}
	return s
}

// joinedOf returns the filter of a stream, which passes on its matching lines except
// skipped ones.
func (p *LogPrinter) joinedOf(from logSource, line func(screen.Line)) *screen.Lines {
	skipping := false
	joined := &screen.Lines{Pattern: p.grep, Line: func(l screen.Line) {
		if l.Begins {
			if skipping = p.skip[from.worker] > 0; skipping {
				p.skip[from.worker]--
			}
		}
		if !skipping {
			line(l)
		}
	}}
	p.joined[from] = joined
	return joined
}

func (p *LogPrinter) printText(from logSource, l screen.Line) error {
	if p.json {
		return p.printJSON(from, l.Time, l.Text, !l.Ends)
	}
	p.begin(from, l.Time, l.Begins)
	if p.Form.terminal {
		p.line = append(p.line, safetext.Colours(l.Text)...)
	} else {
		p.line = append(p.line, l.Text...)
	}
	return p.end(l.Ends)
}

// begin begins a line, unless the open one continues. fresh says that it does not.
func (p *LogPrinter) begin(from logSource, at time.Time, fresh bool) {
	if p.open == from && !fresh {
		return
	}
	if p.open != (logSource{}) && (p.timestamps || p.labels != nil || len(p.screens) > 0) {
		p.line = append(p.line, '\n')
	}
	p.line = append(p.line, p.labels[from.worker]...)
	if p.timestamps {
		p.line = at.Local().AppendFormat(p.line, output.TimestampFormat)
	}
	p.open = from
}

// end ends a line, or a piece of one. Followers see it at once.
func (p *LogPrinter) end(ends bool) error {
	if ends {
		p.line = append(p.line, '\n')
		p.open = logSource{}
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

// Run prints all output of one worker that read gives to each.
func (p *LogPrinter) Run(read func(each func(swarm.Output) error) error) error {
	return p.runOf(func(each func(string, swarm.Output) error) error {
		return read(func(o swarm.Output) error { return each("", o) })
	})
}

func (p *LogPrinter) runOf(read func(each func(string, swarm.Output) error) error) error {
	written, over := make(chan struct{}, 1), make(chan struct{})
	p.written = map[string]time.Time{}
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
					p.mu.Lock()
					p.settle(time.Time{})
					p.mu.Unlock()
				case <-over:
					return
				}
			}
		})
	}
	err := read(func(worker string, o swarm.Output) error {
		wake.Up(written)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.Live && p.labels != nil {
			// A worker that writes all the time does not hold up the others.
			now := time.Now()
			p.settle(now.Add(-settled))
			p.written[worker] = now
		}
		return p.printOf(worker, o)
	})
	close(over)
	settling.Wait()
	return cmp.Or(err, p.close())
}

// settle prints the contents of the screens. Unless since is zero, it leaves out workers
// that have written something since. The next print returns a failure.
func (p *LogPrinter) settle(since time.Time) {
	for _, from := range p.sources() {
		if at, unshown := p.written[from.worker]; !since.IsZero() && (!unshown || at.After(since)) {
			continue
		}
		p.screens[from].Settle()
		if joined := p.joined[from]; joined != nil {
			joined.Settle()
		}
	}
	for worker, at := range p.written {
		if since.IsZero() || !at.After(since) {
			delete(p.written, worker)
		}
	}
}

// sources returns the streams that are shown as text, in a fixed order.
func (p *LogPrinter) sources() []logSource {
	return slices.SortedFunc(maps.Keys(p.screens), func(a, b logSource) int {
		return cmp.Or(strings.Compare(a.worker, b.worker), -strings.Compare(string(a.stream), string(b.stream)))
	})
}

func (p *LogPrinter) close() error {
	p.closeScreens(func(logSource) bool { return true })
	if p.last != nil && !p.Live {
		p.line = lastLines(p.line, *p.last)
	}
	if p.err == nil && len(p.line) > 0 {
		p.err = p.flush()
	}
	return p.err
}

// closeScreens prints what the screens of the chosen streams still hold.
func (p *LogPrinter) closeScreens(chosen func(logSource) bool) {
	for _, from := range p.sources() {
		if !chosen(from) {
			continue
		}
		p.screens[from].Close()
		if joined := p.joined[from]; joined != nil {
			joined.Close()
		}
		delete(p.screens, from)
		delete(p.joined, from)
	}
}

// note prints a line about a worker on stderr, after all its output so far. Later output
// begins on a new line.
func (p *LogPrinter) note(worker, text string) { p.interject(worker, func() { p.Hint(text) }) }

// interject calls print, which prints a line of our own on stderr, between the lines of output.
func (p *LogPrinter) interject(worker string, print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeScreens(func(from logSource) bool { return from.worker == worker })
	if p.open != (logSource{}) && (p.Form.terminal || p.labels != nil) {
		p.line = append(p.line, '\n')
		p.open = logSource{}
	}
	if p.err == nil && len(p.line) > 0 {
		p.err = p.flush()
	}
	print()
}

// logJSON is a piece of output, or a line of text. Bytes that are not UTF-8 are replaced.
type logJSON struct {
	Time    *string `json:"time"`
	Stream  string  `json:"stream"`
	Text    string  `json:"text"`
	Partial bool    `json:"partial"`
	Dropped int64   `json:"dropped"`
	// Worker is the name of the worker, where the output of several is printed.
	Worker string `json:"worker,omitempty"`
}

func (p *LogPrinter) printJSON(from logSource, at time.Time, text []byte, partial bool) error {
	dropped := p.dropped[from.worker]
	delete(p.dropped, from.worker)
	return p.PrintJSONLine(logJSON{
		Time: output.TimeJSON(at), Stream: string(from.stream), Text: string(text), Partial: partial, Dropped: dropped, Worker: from.worker,
	})
}

// letters returns the piece without an incomplete character at its end, and with the
// beginning of its first character that came before.
func (p *LogPrinter) letters(from logSource, o swarm.Output) []byte {
	data := append(p.half[from], o.Data...)
	delete(p.half, from)
	if !o.Partial {
		return data
	}
	whole := safetext.Whole(data)
	if rest := data[len(whole):]; len(rest) > 0 {
		if p.half == nil {
			p.half = map[logSource][]byte{}
		}
		p.half[from] = bytes.Clone(rest)
	}
	return whole
}
