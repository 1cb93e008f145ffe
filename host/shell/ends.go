package shell

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Ends returns a text of at most about most characters: the text, or its first and last
// lines with a line between them that says how much is left out and that file has all
// of it.
func Ends(text string, most int, file string) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return join(text[:headLength(text, most/3)], text[tailStart(text, most-most/3):], len(text), file+" has all of it")
}

// headLength returns how long the first lines of a text are that have at most n
// characters, or its first n characters if it begins with a longer line.
func headLength(text string, n int) int {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if i := strings.LastIndexByte(text[:end], '\n'); i >= end/2 {
		return i + 1
	}
	return end
}

// tailStart returns where the last lines of a text begin that have at most n
// characters, or its last n characters if it ends with a longer line.
func tailStart(text string, n int) int {
	start := len(text)
	for range n {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 && i < (len(text)-start)/2 {
		return start + i + 1
	}
	return start
}

// join puts the two ends of a text of so many bytes together. where says where the rest
// is.
func join(head, tail string, size int, where string) string {
	left := size - len(head) - len(tail)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s%s%d bytes are left out here, %s]\n%s", head, swarm.TranscriptMark, max(left, 0), where, tail)
}
