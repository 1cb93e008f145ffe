package swarm

import (
	"context"
	"strconv"
	"time"
)

const (
	// MaxInput is the largest Input.Data, in bytes.
	MaxInput = 1 << 20
	// MaxKeys is how many keys one input of [InputKeys] may have.
	MaxKeys = 64
	// MaxEnterAfter is the largest Input.EnterAfter.
	MaxEnterAfter = 5 * time.Second
)

// InputKind is a kind of input.
type InputKind int

// The kinds of input. A reader that is sent a kind it does not know answers
// [ErrInvalidSpec].
const (
	// InputText is Input.Data, as if it were typed or piped. It is the zero value.
	InputText InputKind = iota
	// InputInterrupt asks the worker to stop what it is doing, as the interrupt
	// key of a terminal does. A worker without a terminal gets SIGINT, with all
	// processes of its main process's group.
	InputInterrupt
	// InputEOF ends the input, as the end-of-file key of a terminal does. The standard
	// input of a worker without a terminal is closed.
	InputEOF
	// InputKeys presses the keys of a terminal whose names Input.Data holds,
	// separated by single spaces. They are tmux's names: "Escape", "Down", "Enter",
	// "C-c", "M-x", "F1", or the character that the key types. They are pressed one
	// by one, each after the program has read the previous one. A worker without a
	// terminal, an unknown name and more than [MaxKeys] are [ErrInvalidSpec]; no key
	// is pressed then.
	InputKeys
)

// String returns "text", "interrupt", "eof" or "keys".
func (k InputKind) String() string {
	switch k {
	case InputInterrupt:
		return "interrupt"
	case InputEOF:
		return "eof"
	case InputKeys:
		return "keys"
	default:
		return "text"
	}
}

// Input is an input for a worker.
type Input struct {
	// Kind is the kind of input; the zero value is InputText.
	Kind InputKind
	// Data is any bytes for InputText, at most [MaxInput]; for InputKeys it is the
	// names of keys. The other kinds have none.
	//
	// A program on a terminal that enabled bracketed paste (mode 2004) and is not in
	// line mode gets the text in paste brackets, however short: the program inserts
	// it and takes no character for a key. A text with the sequence that ends a paste
	// is [ErrInvalidSpec] for such a program.
	Data []byte
	// Enter is for InputText: submit the data. On a terminal that is a separate Enter
	// key once the worker has read the data; otherwise a newline.
	Enter bool
	// EnterAfter is the shortest pause between the moment when a worker on a terminal
	// has read the data and Enter: programs take an Enter that follows a text at once
	// for a part of it. 0: 150 ms. Terminals in line mode and pipes have no pause. Less
	// than 0 or more than [MaxEnterAfter] is [ErrInvalidSpec].
	EnterAfter time.Duration
	// PasteOnly is for InputText: send a non-empty text in paste brackets or not at
	// all. A program that has just been started may not have enabled bracketed paste
	// yet, and until then a character of the text may be a command. If it does not
	// enable it within seconds, the error is [ErrUnavailable] and nothing was sent. It
	// has no effect for a worker without a terminal.
	PasteOnly bool
}

// Check returns [ErrInvalidSpec] for an input that no backend accepts: more than
// [MaxInput] bytes, or an EnterAfter out of range.
func (in Input) Check() error {
	switch {
	case len(in.Data) > MaxInput:
		return &specError{"an input of " + strconv.Itoa(len(in.Data)) + " bytes; at most " + strconv.Itoa(MaxInput) + " can be given at once"}
	case in.EnterAfter < 0 || in.EnterAfter > MaxEnterAfter:
		return &specError{"Enter " + in.EnterAfter.String() + " after the text; must be from 0 to " + MaxEnterAfter.String()}
	default:
		return nil
	}
}

// InputResult is the result of an input.
type InputResult struct {
	// Pending says that the input was delivered, but the worker had not read all of it
	// when the backend stopped looking, after some seconds.
	Pending bool
}

// Inputter gives input to workers. The host passes input on to each worker of a backend with [CapScreen] or without
// [CapStdin], to one with the option [OptionTTY], and else only to one whose spec asked for a standard input: such a
// worker without it reads nothing. An interrupt goes to each.
type Inputter interface {
	// Input gives in to the worker, whole and unchanged, and not mixed with other inputs.
	// Input that can't arrive unchanged (a line of more than 4,095 bytes, the limit of a
	// terminal in line mode; a worker without a standard input) is refused as a whole:
	// [ErrInvalidSpec], with the reason. For a worker that has ended, the error is
	// [ErrNotFound].
	Input(ctx context.Context, h Handle, in Input) (InputResult, error)
}

// SignalOptions say which signal to send to which processes.
type SignalOptions struct {
	// Signal is a name valid by [ParseSignal].
	Signal string
	// Mode says whether all of the worker's processes get it or only the main process.
	Mode KillMode
}

// Signaller sends signals that are not meant to end a worker, such as SIGUSR1.
type Signaller interface {
	// Signal sends the signal and returns at once. If it ends the worker, that counts
	// as the worker's own exit. A worker that has ended is [ErrNotFound].
	Signal(ctx context.Context, h Handle, o SignalOptions) error
}
