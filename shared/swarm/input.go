package swarm

import "context"

// MaxInput is the largest Input.Data, in bytes.
const MaxInput = 1 << 20

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
	// InputEOF ends the input, as the end-of-file key of a terminal does. That of
	// a worker without a terminal is closed.
	InputEOF
)

// String returns "text", "interrupt" or "eof".
func (k InputKind) String() string {
	switch k {
	case InputInterrupt:
		return "interrupt"
	case InputEOF:
		return "eof"
	default:
		return "text"
	}
}

// Input is what is given to a worker.
type Input struct {
	// Kind is what it is.
	Kind InputKind
	// Data is for InputText: any bytes, at most [MaxInput].
	Data []byte
	// Enter is for InputText: submit the data. On a terminal that is the Enter
	// key, by itself, once the worker has read the data; else a newline.
	Enter bool
}

// InputResult says what became of an input.
type InputResult struct {
	// Pending says that the worker has it but had not read all of it when the
	// backend stopped to look, which takes seconds.
	Pending bool
}

// Inputter gives input to workers.
type Inputter interface {
	// Input gives in to the worker, whole and unchanged, and not mixed with other
	// inputs. What can't arrive as it is (a line longer than what a terminal in
	// line mode takes, which is 4,095 bytes; a worker without a standard input) is
	// refused before anything was given: [ErrInvalidSpec], with the reason. A
	// worker that has ended is [ErrNotFound].
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
