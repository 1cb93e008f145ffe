package config

import (
	"fmt"
	"strings"
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
