// Package dotenv reads files of variables.
package dotenv

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Parse reads the text of a file of variables, and returns them as KEY=VALUE, in its order:
//
//	# a comment
//	NAME=value          # a comment after a blank
//	export NAME=value   the word export means nothing
//	NAME='as it is'     may go over several lines
//	NAME="line\n2"      with \n \r \t \" \\ \$; may go over several lines
//
// Blanks around names and plain values do not count. Nothing is expanded: a
// dollar sign is a dollar sign. A mistake in a line does not hide a mistake
// in the next. The mistakes hold no values.
func Parse(text string) (variables []string, mistakes []Mistake) {
	s := scanner{src: text}
	s.at = len(s.src) - len(strings.TrimPrefix(s.src, "\ufeff"))
	for s.at < len(s.src) {
		if err := s.line(); err != nil {
			mistakes = append(mistakes, Mistake{At: s.at, Text: err.Error()})
			s.skip()
		}
	}
	return s.found, mistakes
}

// Mistake is what is wrong in a line.
type Mistake struct {
	// At is where it is, as an offset in bytes.
	At   int
	Text string
}

type scanner struct {
	src   string
	at    int
	found []string
}

// line reads a line, or the lines of one value. With an error it stops where
// that is.
func (s *scanner) line() error {
	s.blanks()
	if s.at == len(s.src) || strings.IndexByte("#\r\n", s.src[s.at]) >= 0 {
		s.skip()
		return nil
	}
	name := s.name()
	if name == "export" && s.at < len(s.src) && strings.IndexByte(" \t", s.src[s.at]) >= 0 {
		s.blanks()
		if next := s.name(); next != "" {
			name = next
		}
	}
	if name == "" {
		return errors.New("expected a line NAME=value; a name has letters, digits and '_', and does not begin with a digit")
	}
	s.blanks()
	if s.at == len(s.src) || s.src[s.at] != '=' {
		return errors.New("expected '=' after the name") // which may be a secret
	}
	s.at++
	s.blanks()
	value, err := s.value()
	switch {
	case err != nil:
		return err
	case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
		return errors.New("expected text in the value of " + name)
	}
	s.found = append(s.found, name+"="+value)
	s.skip()
	return nil
}

func (s *scanner) name() string {
	from := s.at
	for s.at < len(s.src) {
		c := s.src[s.at]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (s.at == from || c < '0' || c > '9') {
			break
		}
		s.at++
	}
	return s.src[from:s.at]
}

func (s *scanner) value() (string, error) {
	if s.at == len(s.src) || s.src[s.at] != '\'' && s.src[s.at] != '"' {
		return s.plain(), nil
	}
	open := s.at
	value, ok := s.quoted()
	if !ok {
		s.at = open
		return "", errors.New("the quote is not closed")
	}
	s.blanks()
	if s.at < len(s.src) && strings.IndexByte("#\r\n", s.src[s.at]) < 0 {
		return "", errors.New("expected the end of the line after the quote")
	}
	return value, nil
}

// plain reads a value without quotes: a comment begins at a '#' after a blank.
func (s *scanner) plain() string {
	line, _, _ := strings.Cut(s.src[s.at:], "\n")
	s.at += len(line)
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return strings.TrimRight(line, " \t\r")
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\', '$': '$'}

// quoted goes behind a value in quotes; it reports whether they are closed.
func (s *scanner) quoted() (string, bool) {
	quote := s.src[s.at]
	var b strings.Builder
	for s.at++; s.at < len(s.src); s.at++ {
		c := s.src[s.at]
		switch {
		case c == quote:
			s.at++
			return b.String(), true
		case c == '\\' && quote == '"' && s.at+1 < len(s.src):
			s.at++
			if e, ok := escapes[s.src[s.at]]; ok {
				b.WriteByte(e)
				continue
			}
			b.WriteByte('\\')
			b.WriteByte(s.src[s.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func (s *scanner) blanks() {
	for s.at < len(s.src) && (s.src[s.at] == ' ' || s.src[s.at] == '\t') {
		s.at++
	}
}

func (s *scanner) skip() {
	line, _, _ := strings.Cut(s.src[s.at:], "\n")
	s.at = min(s.at+len(line)+1, len(s.src))
}
