package rundir

import (
	"errors"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// The kinds of an answer.
const (
	AnswerAccepted  = "accepted"
	AnswerEnded     = "ended"
	AnswerSurvivors = "survivors"
	AnswerOK        = "ok"
	AnswerStale     = "stale"
	AnswerError     = "error"
	// AnswerChanged reports a change of the status to a watcher.
	AnswerChanged = "changed"
	// AnswerLate is for a complete after the end has begun, or after another complete.
	AnswerLate = "late"
	// AnswerPending is for an input that has not been read yet.
	AnswerPending = "pending"
	// AnswerBusy says that the request can't be carried out now; Text holds the reason.
	AnswerBusy = "busy"
	// AnswerReady asks for what follows an exec.
	AnswerReady = "ready"
	// AnswerExit reports how the command of an exec ended; Code holds its exit code.
	AnswerExit = "exit"
)

// Answer is one line of an answer on the control socket.
type Answer struct {
	// Kind is one of the kinds.
	Kind string
	// Forced says that the grace was not enough; for ended and survivors.
	Forced bool
	// Already says that the worker had ended before; for ended.
	Already bool
	// Signal is the first signal that was sent, empty if none was.
	Signal string
	// Survivors are the processes that are still alive; for survivors. Their names are the
	// kernel's, every byte but [A-Za-z0-9._-] made '_'.
	Survivors []swarm.Process
	// Text is for the user; for error and busy.
	Text string
	// Code is an exit code as a shell has it, 128+n for signal n; for exit.
	Code int
}

// answerFields are the fields of an answer about an end.
var answerFields = []field[Answer]{
	flagField("forced", func(a *Answer) *bool { return &a.Forced }),
	flagField("already", func(a *Answer) *bool { return &a.Already }),
	textField("signal", func(a *Answer) *string { return &a.Signal }),
}

// String returns the answer as its line, without the newline.
func (a Answer) String() string {
	switch a.Kind {
	case AnswerEnded, AnswerSurvivors:
		var line strings.Builder
		line.WriteString(a.Kind)
		for _, f := range answerFields {
			if f.key == "already" && a.Kind == AnswerSurvivors {
				continue
			}
			for _, value := range f.values(&a) {
				line.WriteString(" " + f.key + "=" + value)
			}
		}
		for _, s := range a.Survivors {
			line.WriteString(" " + strconv.Itoa(s.PID) + ":" + plain(s.Name))
		}
		return line.String()
	case AnswerError, AnswerBusy:
		return a.Kind + " " + strings.ReplaceAll(a.Text, "\n", " ")
	case AnswerExit:
		return a.Kind + " " + strconv.Itoa(a.Code)
	default:
		return a.Kind
	}
}

// ParseAnswer reads a line that was written by [Answer.String]. It ignores unknown fields:
// a newer shim may send more.
func ParseAnswer(line string) (Answer, error) {
	kind, rest, _ := strings.Cut(line, " ")
	a := Answer{Kind: kind}
	switch kind {
	case AnswerAccepted, AnswerOK, AnswerStale, AnswerChanged, AnswerLate, AnswerPending, AnswerReady:
		return a, nil
	case AnswerExit:
		var err error
		a.Code, err = strconv.Atoi(rest)
		return a, err
	case AnswerError, AnswerBusy:
		a.Text = rest
		return a, nil
	case AnswerEnded, AnswerSurvivors:
	default:
		return Answer{}, errors.New("unknown answer from the shim")
	}
	for word := range strings.FieldsSeq(rest) {
		if key, value, ok := strings.Cut(word, "="); ok {
			setField(answerFields, &a, key, value)
			continue
		}
		number, name, _ := strings.Cut(word, ":")
		pid, err := strconv.Atoi(number)
		if err != nil || kind != AnswerSurvivors {
			return Answer{}, errors.New("damaged answer from the shim")
		}
		a.Survivors = append(a.Survivors, swarm.Process{PID: pid, Name: name})
	}
	return a, nil
}

// plain makes a process's name one word of plain letters. A name without any
// letter left still needs one, to be seen.
func plain(name string) string {
	if name == "" {
		return "_"
	}
	b := []byte(name)
	for i, c := range b {
		if !isPlain(c) {
			b[i] = '_'
		}
	}
	return string(b)
}

func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}
