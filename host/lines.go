package host

import (
	"strings"

	"github.com/swarmhost/swarm/host/plain"
	"github.com/swarmhost/swarm/shared/swarm"
)

// lineReader makes lines of plain text of a worker's output.
type lineReader struct {
	// lines are those that have ended.
	lines   []string
	streams []*lineStream
}

// lineStream is the line of one stream that has not ended yet.
type lineStream struct {
	name  swarm.Stream
	plain plain.Text
	text  []byte
}

// maxOpen is how much of a line is kept before it has ended.
const maxOpen = 64 << 10

// add takes the next piece of output.
func (r *lineReader) add(o swarm.Output) {
	s := r.stream(o.Stream)
	s.text = append(s.text, s.plain.Strip(o.Data, !o.Partial)...)
	if len(s.text) > maxOpen {
		s.text = append(s.text[:0], s.text[len(s.text)-maxOpen/2:]...)
	}
	if !o.Partial {
		// What was written over itself on a terminal is several lines of text.
		r.lines = append(r.lines, strings.Split(string(s.text), "\n")...)
		s.text = nil
	}
}

func (r *lineReader) stream(name swarm.Stream) *lineStream {
	for _, s := range r.streams {
		if s.name == name {
			return s
		}
	}
	s := &lineStream{name: name}
	r.streams = append(r.streams, s)
	return s
}

// open are the lines that have not ended yet, such as a prompt.
func (r *lineReader) open() []string {
	var lines []string
	for _, s := range r.streams {
		if len(s.text) > 0 {
			lines = append(lines, strings.Split(string(s.text), "\n")...)
		}
	}
	return lines
}
