package shell

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/swarm"
)

// maxText is the most that one answer holds of one stream.
const maxText = 1 << 20

// tail is the end of a text that comes in pieces.
type tail struct {
	text    []byte
	dropped int64
}

// add adds a line, or a part of one.
func (t *tail) add(b []byte, partial bool) {
	t.text = append(t.text, b...)
	if !partial {
		t.text = append(t.text, '\n')
	}
	// A moment's excess saves moving the text for every line.
	if len(t.text) > 2*maxText {
		t.cut()
	}
}

// cut drops what is too much, and the line that would be without its beginning.
func (t *tail) cut() {
	excess := len(t.text) - maxText
	if excess <= 0 {
		return
	}
	if i := bytes.IndexByte(t.text[excess:], '\n'); i >= 0 && excess+i+1 < len(t.text) {
		excess += i + 1
	}
	t.dropped += int64(excess)
	t.text = append(t.text[:0], t.text[excess:]...)
}

// String returns the text after a line that says what is missing.
func (t *tail) String() string {
	t.cut()
	return mark(t.dropped) + valid(t.text)
}

// mark says how much output is missing; nothing for none.
func mark(dropped int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%s%d bytes of older output were dropped]\n", swarm.TranscriptMark, dropped)
}

// valid returns b as valid UTF-8.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), string(utf8.RuneError)) }
