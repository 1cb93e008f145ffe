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

// InputKind says what is given to a worker.
type InputKind int

// The kinds of input. A reader that is sent a kind it does not know answers
// [ErrInvalidSpec].
const (
	// InputText is Input.Data, as if it was typed or piped. It is the zero value.
	InputText InputKind = iota
	// InputInterrupt asks the worker to stop what it is doing, as the interrupt
	// key of a terminal does. A worker without a terminal gets SIGINT, with all
	// processes of its main process's group.
	InputInterrupt
	// InputEOF ends the input, as the end-of-file key of a terminal does. The standard
	// input of a worker without a terminal is closed.
	InputEOF
	// InputKeys presses the keys of a terminal whose names Input.Data holds,
	// separated by one space each. The names are those of tmux: "Escape", "Down",
	// "Enter", "C-c", "M-x", "F1", or the character that the key types. They are
	// pressed one by one, each after the program has read the one before. A worker
	// that is on no terminal, an unknown name and more than [MaxKeys] are
	// [ErrInvalidSpec], and no key is pressed then.
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

// Input is what is given to a worker.
type Input struct {
	// Kind is what it is.
	Kind InputKind
	// Data is any bytes for InputText, at most [MaxInput]; for InputKeys it is the
	// names of keys. The other kinds have none.
	//
	// A program on a terminal that asked for bracketed paste (mode 2004) and is not
	// in line mode gets a text in paste brackets, however short: it is inserted, and
	// no character of it is taken for a key. A text that holds the sequence that
	// ends a paste is [ErrInvalidSpec] for such a program.
	Data []byte
	// Enter is for InputText: submit the data. On a terminal that is the Enter
	// key, by itself, once the worker has read the data; else a newline.
	Enter bool
	// EnterAfter is the shortest time between the moment at which a worker on a
	// terminal has read the data and Enter: programs take an Enter that follows a
	// text at once for a part of it. 0: 150 ms. Terminals in line mode and pipes need
	// no such pause and have none. Less than 0 or more than [MaxEnterAfter] is
	// [ErrInvalidSpec].
	EnterAfter time.Duration
	// PasteOnly is for InputText: give a text that is not empty in paste brackets or
	// not at all. A program that has just been started may still have to ask for
	// bracketed paste, and until then a character of the text may be a command. If it
	// does not ask within seconds the error is [ErrUnavailable], and nothing was given.
	// A worker that is on no terminal takes no notice.
	PasteOnly bool
}

// Check returns [ErrInvalidSpec] for what no backend takes: more than [MaxInput]
// bytes, or an EnterAfter that is out of its range.
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

// InputResult says what became of an input.
type InputResult struct {
	// Pending says that the worker has it but had not read all of it when the
	// backend stopped to look, which takes seconds.
	Pending bool
}

// Inputter gives input to workers.
type Inputter interface {
	// Input gives in to the worker, whole and unchanged, and not mixed with other inputs.
	// Input that can't arrive unchanged (a line of more than 4,095 bytes, the limit of a
	// terminal in line mode; a worker without a standard input) is refused before anything
	// is given: [ErrInvalidSpec], with the reason. For a worker that has ended, the error
	// is [ErrNotFound].
	Input(ctx context.Context, h Handle, in Input) (InputResult, error)
}

// SignalOptions say which signal to send to whom.
type SignalOptions struct {
	// Signal is a name valid by [ParseSignal].
	Signal string
	// Mode says whether all of the worker's processes get it or only the main one.
	Mode KillMode
}

// Signaller sends signals that are not meant to end a worker, such as SIGUSR1.
type Signaller interface {
	// Signal sends the signal and returns at once. If it ends the worker, that is
	// an exit of the worker's own. A worker that has ended is [ErrNotFound].
	Signal(ctx context.Context, h Handle, o SignalOptions) error
}
