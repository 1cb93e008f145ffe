package team

import (
	"errors"
	"fmt"
)

// Refusals that concern tasks and messages.
var (
	ErrInvalid      = errors.New("invalid input")
	ErrNoTask       = errors.New("no such task")
	ErrUnavailable  = errors.New("the task can't be claimed")
	ErrTransition   = errors.New("tasks only move forward")
	ErrNotOwner     = errors.New("the task is another member's")
	ErrNoDependency = errors.New("no such dependency")
	ErrCycle        = errors.New("the dependencies form a circle")
	ErrNoRecipient  = errors.New("no such recipient")
)

// How long texts can be, in bytes.
const (
	maxTitle = 1 << 10
	maxText  = 256 << 10
)

// refusal is one of these errors with the text that the member is to read.
type refusal struct {
	kind error
	text string
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.kind }

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind: kind, text: fmt.Sprintf(format, args...)}
}
