package jsonc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep values are nested.
const maxDepth = 200

// SyntaxError says where a text is wrong.
type SyntaxError struct {
	// Line and Column count from 1; columns count characters.
	Line, Column int
	Text         string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// Value is a value in a text.
type Value struct {
	// Start and End are its place: text[Start:End].
	Start, End int
	// Members are those of an object, in their order, and Elements those of an array.
	Members  []Member
	Elements []Value

	kind  byte   // the first byte
	plain []byte // the whole text without comments and trailing commas: they are blanks
}

// Member is a member of an object.
type Member struct {
	// Start is where its key begins.
	Start int
	Key   string
	Value Value
}

// Parse parses a text. White space and comments around the value are not part of it. An
// empty text is an error, too.
func Parse(text string) (Value, error) {
	p := parser{text: text, plain: []byte(text)}
	if strings.HasPrefix(text, "\ufeff") {
		p.at = len("\ufeff")
	}
	v, err := p.value(0)
	if err == nil {
		err = p.blank()
	}
	if err == nil && p.at < len(text) {
		err = p.wrong("expected the end of the file")
	}
	return v, err
}

// part is where a member of an object is, or an element of an array.
type part struct{ start, end int }

// parts returns the parts of an object or an array, in their order.
func (v *Value) parts() (all []part) {
	for _, m := range v.Members {
		all = append(all, part{m.Start, m.Value.End})
	}
	for _, e := range v.Elements {
		all = append(all, part{e.Start, e.End})
	}
	return all
}

// At returns the value at a path of keys, or nil if the path is absent. Of members with the same
// key the last one counts.
func (v *Value) At(path ...string) *Value {
	if len(path) == 0 {
		return v
	}
	for _, m := range slices.Backward(v.Members) {
		if m.Key == path[0] {
			return m.Value.At(path[1:]...)
		}
	}
	return nil
}

// Decode decodes the value, as encoding/json does.
func (v *Value) Decode(into any) error { return json.Unmarshal(v.plain[v.Start:v.End], into) }

type parser struct {
	text string
	at   int
	// plain is a copy of the text in which what is not JSON becomes blank; nil: none is wanted.
	plain []byte
}

func (p *parser) wrong(text string) error {
	before := p.text[:min(p.at, len(p.text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return &SyntaxError{Line: line, Column: column, Text: text}
}

// blank skips white space and comments.
func (p *parser) blank() error {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.at++
		case strings.HasPrefix(rest, "//"):
			p.skip(len(firstLine(rest)))
		case strings.HasPrefix(rest, "/*"):
			n := blockComment(rest)
			if n < 0 {
				return p.wrong("this comment has no end")
			}
			p.skip(n)
		default:
			return nil
		}
	}
	return nil
}

// skip skips n bytes that are not JSON.
func (p *parser) skip(n int) {
	for end := p.at + n; p.at < end; p.at++ {
		if p.plain != nil {
			p.plain[p.at] = ' '
		}
	}
}

// blockComment returns the length of the comment that text begins with "/*", or -1 if it has
// no end. The star of "/*/" does not end what it begins.
func blockComment(text string) int {
	const open, end = "/*", "*/"
	n := strings.Index(text[len(open):], end)
	if n < 0 {
		return -1
	}
	return len(open) + n + len(end)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// peek skips what is blank and returns the next byte, 0 at the end.
func (p *parser) peek() (byte, error) {
	if err := p.blank(); err != nil || p.at == len(p.text) {
		return 0, err
	}
	return p.text[p.at], nil
}

func (p *parser) value(depth int) (Value, error) {
	c, err := p.peek()
	if err != nil {
		return Value{}, err
	}
	v := Value{Start: p.at, kind: c, plain: p.plain}
	switch {
	case depth > maxDepth:
		return v, p.wrong("nested too deep")
	case c == '{':
		err = p.list('}', func() error {
			m := Member{Start: p.at}
			if p.text[p.at] != '"' {
				return p.wrong("expected a key in double quotes")
			}
			if m.Key, err = p.string(); err != nil {
				return err
			}
			if c, err := p.peek(); err != nil || c != ':' {
				return cmp.Or(err, p.wrong("expected ':'"))
			}
			p.at++
			m.Value, err = p.value(depth + 1)
			v.Members = append(v.Members, m)
			return err
		})
	case c == '[':
		err = p.list(']', func() error {
			e, err := p.value(depth + 1)
			v.Elements = append(v.Elements, e)
			return err
		})
	case c == '"':
		_, err = p.string()
	default:
		err = p.literal()
	}
	v.End = p.at
	return v, err
}

func (p *parser) list(end byte, item func() error) error {
	p.at++
	comma := -1 // where the last one was
	for {
		c, err := p.peek()
		switch {
		case err != nil:
			return err
		case c == end:
			if comma >= 0 {
				p.plain[comma] = ' '
			}
			p.at++
			return nil
		case c == 0:
			return p.wrong(fmt.Sprintf("expected '%c', got the end of the file", end))
		}
		if err := item(); err != nil {
			return err
		}
		switch c, err = p.peek(); {
		case err != nil:
			return err
		case c == ',':
			comma = p.at
			p.at++
		case c != end:
			return p.wrong(fmt.Sprintf("expected ',' or '%c'", end))
		default:
			comma = -1
		}
	}
}

func (p *parser) string() (string, error) {
	for i := p.at + 1; i < len(p.text) && p.text[i] != '\n'; i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			var s string
			if err := json.Unmarshal([]byte(p.text[p.at:i+1]), &s); err != nil {
				return "", p.wrong("expected a string")
			}
			p.at = i + 1
			return s, nil
		}
	}
	return "", p.wrong("this string has no end")
}

func (p *parser) literal() error {
	n := strings.IndexAny(p.text[p.at:], " \t\r\n,:]}/\"{[")
	if n < 0 {
		n = len(p.text) - p.at
	}
	if n == 0 || !json.Valid([]byte(p.text[p.at:p.at+n])) {
		return p.wrong("expected a value")
	}
	p.at += n
	return nil
}
