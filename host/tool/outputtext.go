package tool

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

// openLines are the lines of an output that have no end yet, by their streams. Each is
// read by itself, so that a cursor can stand behind any of them. Its zero value is ready.
type openLines map[swarm.Stream][]byte

func (l openLines) add(o swarm.Output) string {
	line := append(l[o.Stream], o.Data...)
	if l[o.Stream] = line; !o.Partial {
		delete(l, o.Stream)
	}
	return textOf(line)
}

// others reports whether a stream other than this one has an open line.
func (l openLines) others(s swarm.Stream) bool {
	for stream := range l {
		if stream != s {
			return true
		}
	}
	return false
}

// textOf is what bytes of a terminal read, as valid UTF-8 without an end of the line.
func textOf(data []byte) string {
	return strings.TrimSuffix(strings.ToValidUTF8(string(screen.Text(data)), string(utf8.RuneError)), "\n")
}

// shownLines turns an output into the lines that it shows, without overwritten or erased
// text. Its zero value is ready for use.
type shownLines struct {
	// live returns lines early, for followers of the output.
	live bool
	// line is called with each line that is finished, with its newline.
	line    func(text string)
	screens map[swarm.Stream]*screen.Screen
	lines   map[swarm.Stream]*screen.Lines
}

func (l *shownLines) add(o swarm.Output) {
	if l.screens == nil {
		l.screens, l.lines = map[swarm.Stream]*screen.Screen{}, map[swarm.Stream]*screen.Lines{}
	}
	s := l.screens[o.Stream]
	if s == nil {
		lines := &screen.Lines{Line: l.give}
		s = &screen.Screen{Live: l.live, Line: lines.Add}
		l.screens[o.Stream], l.lines[o.Stream] = s, lines
	}
	s.Write(o.Data, time.Time{})
	if !o.Partial {
		s.Write([]byte{'\n'}, time.Time{})
	}
}

func (l *shownLines) give(line screen.Line) {
	text := strings.ToValidUTF8(string(line.Text), string(utf8.RuneError))
	if line.Ends {
		text += "\n"
	}
	l.line(text)
}

// open returns the lines that are not finished, such as a question.
func (l *shownLines) open() []string {
	var lines []string
	for stream, s := range l.screens {
		open := s.Open()
		if begun := string(l.lines[stream].Open()); begun != "" {
			if len(open) == 0 {
				open = []string{""}
			}
			open[0] = strings.ToValidUTF8(begun, string(utf8.RuneError)) + open[0]
		}
		lines = append(lines, open...)
	}
	return lines
}

func (l *shownLines) close() {
	for _, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
		if s := l.screens[stream]; s != nil {
			s.Close()
			l.lines[stream].Close()
		}
	}
}
