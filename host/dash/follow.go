package dash

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

const (
	// LinesKept is how many lines of a worker's output a [Follower] keeps.
	LinesKept = 2000
	// LinesRead is with how many of the last lines it begins: one more reports that there are
	// earlier lines.
	LinesRead = LinesKept + 1
	// lineKept is how many bytes of a line are kept.
	lineKept = 8 << 10
	// quiet is how long a worker must have written nothing before what it wrote is shown,
	// and busy how long that may take: a change of the screen of a worker that writes all
	// the time is shown too.
	quiet, busy = 30 * time.Millisecond, 120 * time.Millisecond
)

// Follower reads what one worker writes, as it comes. Its methods may be called at the
// same time.
type Follower struct {
	// ID is the worker's.
	ID string

	from    Reader
	changed func()

	mu      sync.Mutex
	lines   []Line
	dropped int
	streams []*stream
	// screen is what its terminal shows, if shows is set. looking says that a view
	// wants it.
	screen         []string
	shows, looking bool
	over           bool
	err            error
	// written gets a value when there is more to show.
	written chan struct{}
}

type Line struct {
	// Text is fit for a terminal: the only sequences in it are colours.
	Text string
	// Time is when its first byte was written; zero while the line has not ended.
	Time time.Time
	// Stream is where it was written.
	Stream swarm.Stream
}

type stream struct {
	name   swarm.Stream
	screen screen.Screen
	// begun says that a line has begun, and text is as much of it as there is.
	begun bool
	text  []byte
	time  time.Time
}

// Follow returns a follower of a worker that runs or has ended. changed is called after
// each change, from any goroutine. [Follower.Run] does the work.
func Follow(from Reader, id string, changed func()) *Follower {
	return &Follower{ID: id, from: from, changed: changed, written: make(chan struct{}, 1)}
}

// Run reads until the worker has ended or ctx ends.
func (f *Follower) Run(ctx context.Context) {
	over := make(chan error, 1)
	var reading sync.WaitGroup
	defer reading.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tail := LinesRead
	reading.Go(func() {
		over <- f.from.Logs(ctx, f.ID, swarm.OutputOptions{Follow: true, Tail: &tail}, f.add)
	})
	show := time.NewTimer(0)
	defer show.Stop()
	var since time.Time
	for {
		select {
		case err := <-over:
			f.finish(ctx, err)
			return
		case <-f.written:
			if since.IsZero() {
				since = time.Now()
			}
			show.Reset(min(quiet, max(0, busy-time.Since(since))))
		case <-show.C:
			since = time.Time{}
			f.look(ctx)
			f.changed()
		}
	}
}

func (f *Follower) finish(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	for _, s := range f.streams {
		s.screen.Close()
		f.keep(s)
	}
	f.over, f.err = true, err
	f.mu.Unlock()
	f.look(ctx)
	f.changed()
}

func (f *Follower) add(o swarm.Output) error {
	f.mu.Lock()
	s := f.stream(o.Stream)
	s.screen.Write(o.Data, o.Time)
	if !o.Partial {
		s.screen.Write([]byte{'\n'}, o.Time)
	}
	f.mu.Unlock()
	wake.Up(f.written)
	return nil
}

func (f *Follower) stream(name swarm.Stream) *stream {
	for _, s := range f.streams {
		if s.name == name {
			return s
		}
	}
	s := &stream{name: name, screen: screen.Screen{Live: true, Colours: true}}
	s.screen.Line = func(l screen.Line) {
		if l.Begins {
			f.keep(s)
		}
		if !s.begun {
			s.time = l.Time
		}
		s.begun = true
		if space := lineKept - len(s.text); space > 0 {
			s.text = append(s.text, l.Text[:min(space, len(l.Text))]...)
		}
		if l.Ends {
			f.keep(s)
		}
	}
	f.streams = append(f.streams, s)
	return s
}

func (f *Follower) keep(s *stream) {
	if !s.begun {
		return
	}
	f.lines = append(f.lines, Line{shown(s.text), s.time, s.name})
	s.begun, s.text = false, s.text[:0]
	if n := len(f.lines); n > LinesKept+LinesKept/4 || n == LinesKept+1 && f.dropped == 0 {
		f.dropped += n - LinesKept
		f.lines = append([]Line{}, f.lines[n-LinesKept:]...)
	}
}

// reset ends the colours of a line, which may have been cut.
const reset = "\x1b[m"

// shown returns a line of output as it is shown: harmless, and without tabs.
func shown(text []byte) string {
	line := safetext.Colours(text)
	if strings.Contains(line, "\t") {
		var b strings.Builder
		column := 0
		for i, part := range strings.Split(line, "\t") {
			if i > 0 {
				gap := tabWidth - column%tabWidth
				b.WriteString(strings.Repeat(" ", gap))
				column += gap
			}
			b.WriteString(part)
			column += ansi.StringWidth(part)
		}
		line = b.String()
	}
	if strings.Contains(line, "\x1b") {
		line += reset
	}
	return line
}

const tabWidth = 8

// Look says whether the worker's screen is wanted besides its output.
func (f *Follower) Look(want bool) {
	f.mu.Lock()
	fresh := want && !f.looking
	f.looking = want
	f.mu.Unlock()
	if fresh {
		wake.Up(f.written)
	}
}

func (f *Follower) look(ctx context.Context) {
	f.mu.Lock()
	want := f.looking
	f.mu.Unlock()
	if !want {
		return
	}
	p, err := f.from.Peek(ctx, f.ID, 0)
	if err != nil {
		return // the next look may work, and the output says why not
	}
	drawn := p.Lines
	if p.Styled != nil {
		drawn = p.Styled
	}
	lines := make([]string, len(drawn))
	for i, line := range drawn {
		lines[i] = shown([]byte(line))
	}
	f.mu.Lock()
	f.screen, f.shows = lines, p.Screen
	f.mu.Unlock()
}

// Earlier says where the lines are that were left out before those of [Follower.Lines].
func Earlier(name string) string {
	return "Earlier lines are left out. All of them: swarm " + humane.Command([]string{"logs", safetext.Line(name)})
}

// Lines returns the last lines of the output, the newest last, and how many of those that
// were read were left out before them. The output has earlier lines if that is not 0, and
// [Earlier] says where; it may have more of them than that. Lines are fit for a terminal:
// the only sequences in them are colours.
func (f *Follower) Lines() (lines []string, dropped int) {
	all, dropped := f.Output()
	lines = make([]string, len(all))
	for i, l := range all {
		lines[i] = l.Text
	}
	return lines, dropped
}

// Output returns what [Follower.Lines] returns, with the times and the streams of the lines.
func (f *Follower) Output() (lines []Line, dropped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines = append(make([]Line, 0, len(f.lines)+1), f.lines...)
	for _, s := range f.streams {
		open := s.screen.Open()
		if s.begun {
			if len(open) == 0 {
				open = []string{""}
			}
			open[0] = string(s.text) + open[0]
		}
		for _, line := range open {
			lines = append(lines, Line{Text: shown([]byte(safetext.Cut(line, lineKept))), Stream: s.name})
		}
	}
	return lines, f.dropped
}

// Screen returns what the terminal of the worker shows; ok is false if it has none, or it was not
// looked at yet. Lines are fit for a terminal: the only sequences in them are colours, if the
// backend knows them.
func (f *Follower) Screen() (lines []string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.screen, f.shows
}

// Over reports whether the output has ended, and the error that ended it early.
func (f *Follower) Over() (over bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over, f.err
}
