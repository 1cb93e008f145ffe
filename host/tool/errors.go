package tool

import (
	"errors"
	"strings"
)

// errNoCommand: nothing says what an agent is.
var errNoCommand = errors.New("no command for the agent: neither command nor [team] agent_command of the config is set")

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

// invalid returns an [InputError] with one problem.
func invalid(path, text string) error {
	return &InputError{Problems: []Problem{{Path: path, Text: text}}}
}
