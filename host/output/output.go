// Package output reads the output of workers as lines of plain text.
package output

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Last returns at least the last n lines that a worker wrote, or all if there are fewer. With an
// error it returns those that it could read.
func Last(ctx context.Context, p *backend.Peer, handle swarm.Handle, n int) ([]string, error) {
	text := Reader{Last: n}
	err := p.Backend.Output(ctx, handle, swarm.OutputOptions{Tail: &n}, func(o swarm.Output) error {
		text.Add(o)
		return nil
	})
	return text.All(), err
}

// LastOf is [Last] of a record, within [backend.StatusLimit].
func LastOf(ctx context.Context, plugins *backend.Plugins, rec registry.Record, n int) (lines []string, err error) {
	ctx, cancel := plugins.Within(ctx, rec.Backend, backend.StatusLimit)
	defer cancel()
	err = plugins.AskOwner(ctx, &rec, true, func(p *backend.Peer) (err error) {
		lines, err = Last(ctx, p, rec.Handle, n)
		return err
	})
	return lines, err
}

// Reader turns the pieces of a worker's output into lines. The zero value keeps all lines.
type Reader struct {
	// Live finishes lines early, for callers that follow the output.
	Live bool
	// Last is how many of the last lines are kept at least; 0: all.
	Last int

	// lines are those that are finished.
	lines   []string
	streams []*lineStream
}

type lineStream struct {
	name   swarm.Stream
	screen screen.Screen
	// begun is a line that is finished in part.
	begun []byte
}

// maxOpen is how much of a line is kept before it has ended.
const maxOpen = 64 << 10

func (r *Reader) Add(o swarm.Output) {
	s := r.stream(o.Stream)
	s.screen.Write(o.Data, time.Time{})
	if !o.Partial {
		s.screen.Write([]byte{'\n'}, time.Time{})
	}
}

func (r *Reader) stream(name swarm.Stream) *lineStream {
	for _, s := range r.streams {
		if s.name == name {
			return s
		}
	}
	s := &lineStream{name: name, screen: screen.Screen{Live: r.Live}}
	s.screen.Line = func(l screen.Line) {
		if l.Begins {
			r.end(s)
		}
		s.begun = append(s.begun, l.Text...)
		if len(s.begun) > maxOpen {
			s.begun = append(s.begun[:0], s.begun[len(s.begun)-maxOpen/2:]...)
		}
		if l.Ends {
			r.keep(string(s.begun))
			s.begun = s.begun[:0]
		}
	}
	r.streams = append(r.streams, s)
	return s
}

func (r *Reader) end(s *lineStream) {
	if len(s.begun) > 0 {
		r.keep(string(s.begun))
		s.begun = s.begun[:0]
	}
}

func (r *Reader) keep(line string) {
	r.lines = append(r.lines, line)
	if n := len(r.lines); r.Last > 0 && n > 2*r.Last+minKept {
		r.lines = append([]string(nil), r.lines[n-r.Last:]...)
	}
}

// minKept is how many lines more than needed are kept at least, so that they are seldom
// copied.
const minKept = 100

// Open returns the lines that are not finished, such as a prompt.
func (r *Reader) Open() []string {
	var lines []string
	for _, s := range r.streams {
		open := s.screen.Open()
		if len(s.begun) > 0 {
			if len(open) == 0 {
				open = []string{""}
			}
			open[0] = string(s.begun) + open[0]
			open[0] = open[0][max(0, len(open[0])-maxOpen):]
		}
		lines = append(lines, open...)
	}
	return lines
}

// All ends all lines and returns those that were not taken.
func (r *Reader) All() []string {
	for _, s := range r.streams {
		s.screen.Close()
		r.end(s)
	}
	return r.lines
}

// Take returns the finished lines, and forgets them.
func (r *Reader) Take() []string {
	lines := r.lines
	r.lines = nil
	return lines
}
