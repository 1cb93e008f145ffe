package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/nearest"
)

// Position is a place in a file. Lines and columns count from 1, columns in
// characters; with 0 it is the file as a whole.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, as compilers write it and editors open it.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is one thing that is wrong in a file.
type Problem struct {
	At Position
	// Key is the whole key, such as "kill.timeout"; empty for a file that isn't
	// TOML at all.
	Key string
	// Text says what is wrong.
	Text string
}

// Error returns position, key and text in one line.
func (p Problem) Error() string {
	if p.Key == "" {
		return fmt.Sprintf("%s: %s", p.At, p.Text)
	}
	return fmt.Sprintf("%s: %s: %s", p.At, p.Key, p.Text)
}

// Problems is all that is wrong in all files. It is the error of [Load].
type Problems []Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// nearestKey returns the candidate that key was probably meant to be, or "": one
// with as many parts, and in each only a few letters different, or else one
// with such a last part, written in the wrong table.
func nearestKey(key string, candidates []string) string {
	nearest := func(part func(string) string) (best string) {
		least := len(key)
		for _, c := range candidates {
			if d, ok := difference(part(key), part(c)); ok && d < least {
				best, least = c, d
			}
		}
		return best
	}
	lastPart := func(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
	return cmp.Or(nearest(func(key string) string { return key }), nearest(lastPart))
}

// difference returns the sum of the distances between the parts of two keys; ok says that
// the keys are similar.
func difference(a, b string) (sum int, ok bool) {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	if len(as) != len(bs) {
		return 0, false
	}
	for i := range as {
		d, ok := nearest.Within(as[i], bs[i], nearest.Most(as[i]))
		if !ok {
			return 0, false
		}
		sum += d
	}
	return sum, true
}

type source struct {
	file, text string
	// lines are the offsets at which the lines begin.
	lines []int
}

func newSource(file, text string) source {
	s := source{file: file, text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

func (s source) position(at int) Position {
	at = min(max(at, 0), len(s.text))
	line, begins := slices.BinarySearch(s.lines, at)
	if begins {
		line++
	}
	return Position{File: s.file, Line: line, Column: utf8.RuneCountInString(s.text[s.lines[line-1]:at]) + 1}
}
