package top

import (
	"strings"

	"github.com/swarmhost/swarm/host/condition"
)

// style is the numbers of an SGR sequence. The colours are those of the user's terminal.
type style string

const (
	normal style = ""
	bold   style = "1"
	faint  style = "2"
	accent style = "36"
	strong style = "1;36"
	red    style = "31"
	green  style = "32"
	cyan   style = "36"
)

func (s style) paint(text string) string {
	if s == normal || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + reset
}

func toned(t condition.Tone) style { return style(t.SGR()) }

type theme struct {
	// plain says that symbols are ASCII.
	plain bool
}

func (t theme) symbol(fine, plain string) string {
	if t.plain {
		return plain
	}
	return fine
}

// headroom is how far the top of a sparkline is above its largest value, so that a steady
// one is calm.
const headroom = 1.6

// spark draws the last values, each between 0 and the largest one, in exactly width cells.
// The top is at least least, so that noise stays flat; a negative value is not known.
func (t theme) spark(values []float64, least float64, width int) string {
	levels := []rune(t.symbol("▁▂▃▄▅▆▇█", "_.:-=+*#"))
	if n := len(values) - width; n > 0 {
		values = values[n:]
	}
	most := least
	for _, v := range values {
		most = max(most, v*headroom)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", width-len(values)))
	for _, v := range values {
		if v < 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(levels[min(int(v/most*float64(len(levels))), len(levels)-1)])
	}
	return b.String()
}
