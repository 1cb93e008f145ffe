package tool

import (
	"errors"
	"strings"
)

var errNotYet = errors.New("not built yet")

// InputError says all that is wrong with an input. Nothing was touched.
type InputError struct{ Problems []Problem }

// Problem is one thing that is wrong with an input.
type Problem struct {
	// Path is the field, such as "signal" or "command[0]"; empty for the whole.
	Path string
	// Text says what it must be.
	Text string
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

func (e *InputError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.String()
	}
	return "invalid input: " + strings.Join(texts, "; ")
}
