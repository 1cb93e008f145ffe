package talk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/question"
)

// answerAll takes the open questions one after the other, for a person at a terminal.
func answerAll(ctx context.Context, a *app.App) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) || a.OutWidth() == 0 {
		return output.WithHint(
			output.Usagef("without a terminal, a name and a choice are needed"),
			"'swarm questions' lists what agents ask, and 'swarm answer NAME CHOICE --digest DIGEST' answers it",
		)
	}
	return a.WithHost(ctx, func(h *host.Host) error {
		return (&answerRun{App: a, h: h, in: bufio.NewReader(os.Stdin), passed: map[string]bool{}}).run(ctx)
	})
}

// answerRun is one call of answerAll.
type answerRun struct {
	*app.App
	h  *host.Host
	in *bufio.Reader
	// passed are the identities of the questions that the person has left open.
	passed   map[string]bool
	answered int
}

// errQuit says that the person wants to end.
var errQuit = errors.New("quit")

func (w *answerRun) run(ctx context.Context) error {
	for {
		q, found, err := w.next(ctx)
		if err != nil {
			return err
		}
		if !found {
			w.Printf("%s\n", w.summary())
			return nil
		}
		switch err := w.ask(ctx, q); {
		case errors.Is(err, errQuit):
			return nil
		case err != nil:
			return err
		}
	}
}

// next returns the oldest question that the person may answer and has not left open.
func (w *answerRun) next(ctx context.Context) (question.Question, bool, error) {
	open, err := openQuestions(ctx, w.App, w.h, "")
	if err != nil {
		return question.Question{}, false, err
	}
	for _, q := range open {
		if !w.passed[identity(q)] {
			return q, true, nil
		}
	}
	return question.Question{}, false, nil
}

func (w *answerRun) summary() string {
	switch {
	case len(w.passed) == 1:
		return "1 question is left open"
	case len(w.passed) > 1:
		return fmt.Sprintf("%d questions are left open", len(w.passed))
	case w.answered > 0:
		return "all questions are answered"
	default:
		return "no agent asks anything"
	}
}

// ask shows a question, and answers it as the person says. The dialog that was shown is the one
// that is answered.
func (w *answerRun) ask(ctx context.Context, q question.Question) error {
	printQuestion(w.App, q, time.Now())
	s := q.Worker.State
	if q.Refusal != nil || len(s.Choices) == 0 || s.Dialog.Digest == "" {
		w.Warn("it can't be answered here: "+why(q), "")
		w.passed[identity(q)] = true
		return nil //nolint:nilerr // the refusal was shown
	}
	w.Printf("choice (Enter leaves it open, q ends): ")
	choice, err := w.line(ctx)
	switch {
	case err != nil:
		return err
	case choice == "":
		w.passed[identity(q)] = true
		return nil
	case choice == "q":
		return errQuit
	}
	out, err := w.h.Input().Answer(ctx, q.Worker.ID, deliver.Reply{Choice: choice, Digest: s.Dialog.Digest})
	switch {
	case err == nil && out.Open:
		w.Printf("not sent yet: %s\n\n", deliver.Dialog(out.Picked(), nil))
	case err == nil:
		w.answered++
		w.Printf("answered %s: %s\n\n", q.Worker.Name, deliver.Dialog(out.Picked(), nil))
	case ctx.Err() != nil:
		return err
	default: // it is asked again, or gone
		w.Fail(err)
	}
	return nil
}

// why says why a question can't be answered by a choice.
func why(q question.Question) string {
	switch {
	case q.Refusal != nil:
		return "you may not"
	case len(q.Worker.State.Choices) == 0:
		return "its choices are not known; 'swarm attach " + q.Worker.Name + "' opens its terminal"
	default:
		return "its screen did not show the dialog when it was read"
	}
}

// line reads what the person types, without blanks around it. The end of the input ends it all.
func (w *answerRun) line(ctx context.Context) (string, error) {
	text, err := app.Interruptibly(ctx, func() ([]byte, error) {
		text, err := w.in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return nil, errQuit
		}
		return text, nil
	})
	return strings.TrimSpace(string(text)), err
}
