package display

import (
	"time"

	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

type lineReader struct {
	// live finishes lines early, for those who follow the output.
	live bool
	// last is how many of the last lines are kept; 0: all.
	last int
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

func (r *lineReader) add(o swarm.Output) {
	s := r.stream(o.Stream)
	s.screen.Write(o.Data, time.Time{})
	if !o.Partial {
		s.screen.Write([]byte{'\n'}, time.Time{})
	}
}

func (r *lineReader) stream(name swarm.Stream) *lineStream {
	for _, s := range r.streams {
		if s.name == name {
			return s
		}
	}
	s := &lineStream{name: name, screen: screen.Screen{Live: r.live}}
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

func (r *lineReader) end(s *lineStream) {
	if len(s.begun) > 0 {
		r.keep(string(s.begun))
		s.begun = s.begun[:0]
	}
}

func (r *lineReader) keep(line string) {
	r.lines = append(r.lines, line)
	if n := len(r.lines); r.last > 0 && n > 2*r.last+minKept {
		r.lines = append([]string(nil), r.lines[n-r.last:]...)
	}
}

// minKept is how many lines more than needed are kept at least, so that they are seldom
// copied.
const minKept = 100

// open are the lines that are not finished, such as a prompt.
func (r *lineReader) open() []string {
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

func (r *lineReader) all() []string {
	for _, s := range r.streams {
		s.screen.Close()
		r.end(s)
	}
	return r.lines
}
