package dash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Verb is what can be done with workers.
type Verb string

// The verbs, named after the commands that do the same.
const (
	Attach    Verb = "attach"
	Send      Verb = "send"
	Answer    Verb = "answer"
	Keys      Verb = "keys"
	Interrupt Verb = "interrupt"
	Kill      Verb = "kill"
	Respawn   Verb = "respawn"
	Clean     Verb = "clean"
)

// Verbs are all verbs, in the order of a menu.
var Verbs = []Verb{Attach, Send, Answer, Keys, Interrupt, Kill, Respawn, Clean}

// verbTexts are the words of a verb. A verb on the worker w1 is "TOWARD 'w1'" before it is
// done, and "PAST w1" after that.
var verbTexts = map[Verb]struct {
	about, toward, past string
	// doing is what the board shows while the verb is under way; empty: nothing.
	doing string
}{
	Attach:    {about: "open its terminal", toward: "attach to"},
	Send:      {about: "send a line", toward: "send to", past: "sent to"},
	Answer:    {about: "answer its question", past: "answered"},
	Keys:      {about: "press keys", toward: "send keys to", past: "sent to"},
	Interrupt: {about: "press Ctrl-C", past: "interrupted"},
	Kill:      {about: "end it and everything it started", past: "killed", doing: "killing"},
	Respawn:   {about: "start it again as it was", past: "started again:", doing: "respawning"},
	Clean:     {about: "remove what it left", past: "cleaned", doing: "cleaning"},
}

// About describes a verb.
func (v Verb) About() string { return verbTexts[v].about }

// Past returns the words before the name of a worker that a verb was used on, such as
// "killed" or "sent to".
func (v Verb) Past() string { return verbTexts[v].past }

// TakesText reports whether a verb needs a text: a line, a choice, the names of keys.
func (v Verb) TakesText() bool { return v == Send || v == Answer || v == Keys }

// Suits reports whether a verb can be used on a worker as it is now.
func (v Verb) Suits(i Item) bool {
	switch v {
	case Attach:
		return i.Status == worker.StatusRunning && can(i, swarm.CapAttach)
	case Send:
		return i.Status == worker.StatusRunning && can(i, swarm.CapInput) && (i.Stdin || hasTerminal(i))
	case Keys:
		return i.Status == worker.StatusRunning && can(i, swarm.CapInput) && hasTerminal(i)
	case Interrupt:
		return i.Status == worker.StatusRunning && can(i, swarm.CapInput)
	case Answer:
		return i.State.Urgency == Attention && i.Worker.State != nil && i.Worker.State.State == profile.Blocked
	case Kill:
		return !i.Gone()
	case Respawn:
		return i.Status != worker.StatusStarting && i.Status != worker.StatusUnknown
	case Clean:
		return i.Gone()
	default:
		return false
	}
}

// can reports whether the backend of a worker can do something, as far as is known.
func can(i Item, c swarm.Capability) bool { return i.Can == nil || slices.Contains(i.Can, c) }

// hasTerminal reports whether a worker may have a terminal: only its backend knows for sure.
func hasTerminal(i Item) bool { return can(i, swarm.CapScreen) || i.Options[swarm.OptionTTY] == "true" }

// Action is a verb on workers.
type Action struct {
	Verb  Verb
	Items []Item
	// Text is the line of a send, the choice of an answer, the names of keys.
	Text string
	// Choices, Submit and Field are more of an answer: several choices of a dialog with boxes,
	// that what is checked is sent, and the text for the dialog's field, see [deliver.Reply].
	Choices []string
	Submit  bool
	Field   string
	// Digest is that of the dialog which the person has seen, see [Item.Digest]. An answer
	// without one is refused, and so are keys at a dialog that is another one by now.
	Digest string
}

// Command returns the arguments of swarm that do the same. A verb on one worker at a time
// has several calls, one for each.
func (a Action) Command() [][]string {
	var args []string
	switch a.Verb {
	case Attach, Respawn:
	case Send:
		args = []string{a.Text}
	case Answer:
		args = a.answer()
	case Keys:
		args = strings.Fields(a.Text)
	default:
		call := []string{string(a.Verb)}
		for _, i := range a.Items {
			call = append(call, i.Name)
		}
		return [][]string{call}
	}
	var calls [][]string
	for _, i := range a.Items {
		calls = append(calls, append([]string{string(a.Verb), i.Name}, args...))
	}
	return calls
}

func (a Action) answer() []string {
	args := slices.Clone(a.Choices)
	if a.Text != "" {
		args = append([]string{a.Text}, args...)
	}
	if a.Field != "" {
		args = append(args, "--text", a.Field)
	}
	if a.Submit {
		args = append(args, "--submit")
	}
	return args
}

// Line returns the command line that does the same, as a shell takes it.
func (a Action) Line() string {
	var lines []string
	for _, call := range a.Command() {
		lines = append(lines, "swarm "+humane.Command(call))
	}
	return strings.Join(lines, " && ")
}

// Asks reports whether a person is asked before the action begins: if it loses something,
// and if it ends several workers.
func (a Action) Asks(now time.Time) bool {
	ended := 0
	if a.Verb == Kill || a.Verb == Respawn {
		for _, i := range a.Items {
			if !i.Gone() {
				ended++
			}
		}
	}
	return ended > 1 || len(a.Risk(now)) > 0
}

// Risk returns what the action could lose, one line for each worker; none if it loses
// nothing. The work in a workspace is never lost: a kill leaves workspaces where they are,
// and a clean keeps one that has changes.
func (a Action) Risk(now time.Time) []string {
	var lines []string
	if a.Verb == Clean {
		for _, i := range a.Items {
			text := i.Name + ": its log is removed"
			if i.Workspace != nil {
				text = i.Name + ": its log is removed, and its workspace unless work would be lost"
			}
			lines = append(lines, text)
		}
		return lines
	}
	if a.Verb != Kill && a.Verb != Respawn {
		return nil
	}
	for _, i := range a.Items {
		if i.Gone() {
			continue
		}
		s := i.Worker.State
		switch {
		case s != nil && (s.State == profile.Working || s.State == profile.Compacting):
			text := i.Name + " is at work"
			if !s.Since.IsZero() {
				text += " (" + humane.Age(now.Sub(s.Since)) + ")"
			}
			lines = append(lines, text+": its turn is lost")
		case s != nil && s.State == profile.Background:
			lines = append(lines, i.Name+" has work in the background: that is lost")
		case s != nil && s.State == profile.Blocked:
			lines = append(lines, i.Name+" waits for an answer: its turn is lost")
		case i.Ralph:
			lines = append(lines, i.Name+" runs a loop: its iteration is lost")
		}
	}
	return lines
}

// Outcome says what came of an action on one worker.
type Outcome struct {
	Name string
	// Notes are what the user should know, one line each.
	Notes []string
	Err   error
}

// Do carries out an action, and shows on the board that it is under way. It returns when
// it is done, with an outcome for each worker.
func (b *Board) Do(ctx context.Context, to Doer, a Action) []Outcome {
	ids := make([]string, len(a.Items))
	for i, item := range a.Items {
		ids[i] = item.ID
	}
	if doing := verbTexts[a.Verb].doing; doing != "" {
		b.begin(Pending{Text: doing}, ids...)
		defer b.end(ids...)
	}
	sel := worker.Selection{Names: ids}
	switch a.Verb {
	case Send:
		return a.sent(to.Deliver(ctx, sel, input.DeliverRequest{Text: []byte(a.Text), Enter: true}))
	case Keys:
		defer b.touch(ids...)
		return a.sent(to.Press(ctx, sel, input.KeysRequest{Keys: strings.Join(strings.Fields(a.Text), " "), Digest: a.Digest}))
	case Interrupt:
		return a.sent(to.Send(ctx, sel, swarm.Input{Kind: swarm.InputInterrupt}))
	case Answer:
		defer b.touch(ids...) // another dialog may be there by now
		return a.each(func(i Item) (notes []string, err error) {
			if a.Digest == "" {
				return nil, fmt.Errorf("cannot answer '%s': its screen did not show the dialog when it was read", i.Name)
			}
			_, err = to.Answer(ctx, i.ID, deliver.Reply{Choice: a.Text, Choices: a.Choices, Submit: a.Submit, Text: a.Field, Digest: a.Digest})
			return nil, err
		})
	case Kill:
		outs, err := to.Kill(ctx, sel, kill.Request{Progress: func(e kill.Event) {
			at := slices.IndexFunc(a.Items, func(i Item) bool { return i.Name == e.Worker })
			switch {
			case at < 0:
			case e.Done:
				b.begin(Pending{Text: "ending"}, a.Items[at].ID)
			default:
				b.begin(Pending{Text: "killing", Deadline: e.Deadline}, a.Items[at].ID)
			}
		}})
		return a.ended(outs, err)
	case Respawn:
		return a.each(func(i Item) (notes []string, err error) {
			_, err = to.Respawn(ctx, i.ID, spawn.RespawnRequest{
				Warn:   func(w worker.Warning) { notes = append(notes, texts([]worker.Warning{w}, nil)...) },
				Notice: func(text string) { notes = append(notes, text) },
			})
			return notes, err
		})
	case Clean:
		return a.ended(to.Clean(ctx, sel, kill.CleanRequest{}))
	default:
		return a.each(func(Item) ([]string, error) { return nil, errors.ErrUnsupported })
	}
}

func (a Action) ended(outs []kill.Outcome, err error) []Outcome {
	return outcomes(a, outs, err, func(o kill.Outcome) Outcome {
		return Outcome{o.Worker.Name, texts(o.Warnings, o.Notices), o.Err}
	})
}

func texts(warnings []worker.Warning, notices []string) []string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Text)
		if w.Hint != "" {
			all = append(all, w.Hint)
		}
	}
	return append(all, notices...)
}

func (a Action) sent(outs []input.Outcome, err error) []Outcome {
	return outcomes(a, outs, err, func(o input.Outcome) Outcome {
		out := Outcome{Name: o.Worker.Name, Err: o.Err}
		if o.Pending {
			out.Notes = []string{"it has not read all of it yet"}
		}
		return out
	})
}

// outcomes returns the outcomes of a call for several workers, or its error for each.
func outcomes[T any](a Action, outs []T, err error, of func(T) Outcome) []Outcome {
	if err != nil {
		return a.each(func(Item) ([]string, error) { return nil, err })
	}
	all := make([]Outcome, len(outs))
	for i, o := range outs {
		all[i] = of(o)
	}
	return all
}

// each calls f for each worker, all at the same time.
func (a Action) each(f func(Item) ([]string, error)) []Outcome {
	all := make([]Outcome, len(a.Items))
	var wg sync.WaitGroup
	for i, item := range a.Items {
		wg.Go(func() {
			notes, err := f(item)
			all[i] = Outcome{item.Name, notes, err}
		})
	}
	wg.Wait()
	return all
}
