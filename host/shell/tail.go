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

// keptHead is how much of the beginning of a longer text is kept, too.
const keptHead = 64 << 10

// tail is the end of a text that comes in pieces.
type tail struct {
	text    []byte
	dropped int64
	// head is the beginning of the text, if it is not in text any more.
	head []byte
	// lost says that some of what was dropped is not in the log any more.
	lost bool
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
	if t.head == nil && t.dropped == 0 {
		t.head = bytes.Clone(t.text[:min(keptHead, excess)])
	}
	t.dropped += int64(excess)
	t.text = append(t.text[:0], t.text[excess:]...)
}

// String returns the text after a line that says what is missing.
func (t *tail) String() string {
	t.cut()
	return mark(t.dropped) + valid(t.text)
}

// length returns how many characters the text has, or more than that if only its end
// is here.
func (t *tail) length() int { return utf8.RuneCount(t.text) + int(t.dropped) }

// ends is [Ends] of the whole text.
func (t *tail) ends(most int, file string) string {
	t.cut()
	if t.dropped == 0 {
		return Ends(valid(t.text), most, file)
	}
	head, text := valid(t.head), valid(t.text)
	where := file + " has all of it"
	if t.lost {
		where = file + " has the newest of it"
	}
	return join(head[:headLength(head, most/3)], text[tailStart(text, most-most/3):], int(t.dropped)+len(t.text), where)
}

// mark says how much output is missing; nothing for none.
func mark(dropped int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%s%d bytes of older output were dropped]\n", swarm.TranscriptMark, dropped)
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), string(utf8.RuneError)) }
