package output

import (
	"bytes"

	"github.com/swarmhost/swarm/shared/safetext"
)

// JSONList prints a JSON array as [Printer.PrintJSON] does, element by element, so that it may
// have any number of them. Its zero value with a Printer is an empty one.
type JSONList struct {
	Printer Printer

	began  bool
	buffer bytes.Buffer
}

// jsonFlushAt is how much text is gathered before it is written.
const jsonFlushAt = 16 << 10

func (l *JSONList) Add(v any) error {
	before := ",\n  "
	if !l.began {
		before, l.began = "[\n  ", true
	}
	l.buffer.WriteString(before)
	if err := encodeJSON(&l.buffer, v, "  ", "  "); err != nil {
		return err
	}
	l.buffer.Truncate(l.buffer.Len() - 1) // the line ends with the next element
	if l.buffer.Len() < jsonFlushAt {
		return nil
	}
	return l.Flush()
}

// Flush writes what is gathered.
func (l *JSONList) Flush() error {
	_, err := l.Printer.Out.Write(safetext.JSON(l.buffer.Bytes()))
	l.buffer.Reset()
	return err
}

func (l *JSONList) End() error {
	if l.began {
		l.buffer.WriteString("\n]\n")
	} else {
		l.buffer.WriteString("[]\n")
	}
	return l.Flush()
}
