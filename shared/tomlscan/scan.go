// Package tomlscan finds the keys of a TOML document without parsing it: their positions,
// which the TOML library does not report, and whether they are too many or too deep for the
// library.
package tomlscan

import (
	"fmt"
	"strings"
)

// Spot holds the offsets of a key and its value. The key of a table is in its brackets;
// it has no value.
type Spot struct{ Key, Value int }

// These bound the contents of a document. The TOML library spends time and memory on each
// part of a key for all parts before it, so the cost of a key grows with the square of its
// depth.
const (
	maxDepth = 24
	// maxParts bounds the sum of the depths of all keys.
	maxParts = 50_000
)

// TooLarge holds the offset at which a document exceeds the limits, and the reason.
type TooLarge struct {
	At  int
	Why string
}

// Keys returns the spot of every key of a document, in order, those of inline tables
// included: the order of the Keys of the TOML library's MetaData, which knows the keys but
// not their places. It is meant to be called before the document is parsed, so src may be
// anything; if it is not valid, the spots before the mistake are right, and so is the check
// of its size. A document that is [TooLarge] must not be parsed.
func Keys(src string) ([]Spot, *TooLarge) {
	s := scanner{src: src}
	for s.blanks(); s.at < len(src); s.blanks() {
		if src[s.at] != '[' {
			s.pair()
			continue
		}
		for s.at < len(src) && (src[s.at] == '[' || src[s.at] == ' ' || src[s.at] == '\t') {
			s.at++
		}
		s.depth = 0
		s.note()
		s.enter(s.key("]\n"))
		s.line()
	}
	return s.found, s.over
}

type scanner struct {
	src   string
	at    int
	found []Spot
	// depth is that of the current key or value, parts the sum for all keys.
	depth, parts int
	over         *TooLarge
}

// note takes down the spot of a key, which begins here.
func (s *scanner) note() { s.found = append(s.found, Spot{Key: s.at, Value: s.at}) }

// enter goes n steps deeper, and to the end of the document if that is too deep.
func (s *scanner) enter(n int) {
	s.depth += n
	why := ""
	switch {
	case s.depth > maxDepth:
		why = fmt.Sprintf("keys and values are nested more than %d deep", maxDepth)
	case s.parts > maxParts:
		why = "too many keys"
	default:
		return
	}
	if s.over == nil {
		s.over = &TooLarge{At: s.found[len(s.found)-1].Key, Why: why}
	}
	s.at = len(s.src)
}

func (s *scanner) pair() {
	i, depth := len(s.found), s.depth
	s.note()
	s.enter(s.key("=\n"))
	s.at = min(s.at+1, len(s.src))
	s.blanks()
	s.found[i].Value = s.at
	s.value()
	s.depth = depth
}

// key goes to the first of the bytes in end that is outside of quotes, and returns
// how many parts the key has.
func (s *scanner) key(end string) int {
	parts := 1
	for s.at < len(s.src) && strings.IndexByte(end, s.src[s.at]) < 0 {
		switch s.src[s.at] {
		case '"', '\'':
			s.quoted()
			continue
		case '.':
			parts++
		}
		s.at++
	}
	s.parts += s.depth + parts
	return parts
}

// value goes behind a value of any kind.
func (s *scanner) value() {
	if s.at >= len(s.src) {
		return
	}
	switch s.src[s.at] {
	case '"', '\'':
		s.quoted()
	case '[':
		s.list(']', s.value)
	case '{':
		s.list('}', s.pair)
	default:
		s.before(",]}#\r\n")
	}
}

// list goes behind an array or an inline table, whose elements item reads.
func (s *scanner) list(end byte, item func()) {
	s.at++
	s.enter(1)
	defer func() { s.depth-- }()
	for s.at < len(s.src) {
		s.blanks()
		switch {
		case s.at >= len(s.src):
			return
		case s.src[s.at] == end:
			s.at++
			return
		case s.src[s.at] == ',':
			s.at++
		default:
			from := s.at
			item()
			s.at = min(max(s.at, from+1), len(s.src)) // over what is not valid
		}
	}
}

// quoted goes behind a string, of one line or of several.
func (s *scanner) quoted() {
	quote := s.src[s.at : s.at+1]
	long := strings.HasPrefix(s.src[s.at:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
	}
	s.at += len(quote)
	for s.at < len(s.src) && !strings.HasPrefix(s.src[s.at:], quote) {
		if s.src[s.at] == '\\' && quote[0] == '"' {
			s.at++
		}
		s.at++
	}
	s.at = min(s.at+len(quote), len(s.src))
	// A string of several lines may end with up to two quotes of its own.
	for long && s.at < len(s.src) && s.src[s.at] == quote[0] {
		s.at++
	}
}

// blanks goes to what comes next, over white space, newlines and comments.
func (s *scanner) blanks() {
	for s.at < len(s.src) {
		switch s.src[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		case '#':
			s.line()
		default:
			return
		}
	}
}

func (s *scanner) line() { s.before("\n") }

// before goes to the first of the bytes in end, or to the end of the document.
func (s *scanner) before(end string) {
	if n := strings.IndexAny(s.src[s.at:], end); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.src)
	}
}
