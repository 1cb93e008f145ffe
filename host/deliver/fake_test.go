package deliver_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fake is an agent whose screen is that of Claude Code. Like it, it takes an Enter
// within 120 ms after a text for a part of it.
type fake struct {
	draft string
	// cursor is how far the cursor is before the end of that.
	cursor int
	// survey says that it shows one, which takes a digit at an empty prompt; rated are those.
	survey bool
	rated  string
	// plain says that nothing shows how its screen looks: a proposal looks like a draft.
	plain bool
	// said is what was submitted, in order; works says that it works on it.
	said  []string
	works bool
	// idleAt is when it stops to work; idle says that it does a second after the start.
	idleAt time.Time
	idle   bool
	// ghost is what it proposes at an empty prompt.
	ghost string
	// popup is a completion: Enter takes it, in place of submitting.
	popup string
	// mark is what a completion removes.
	mark string
	// dialog is what it asks, with the row that is selected.
	dialog *dialog
	// asksAt is when it asks whether it may trust the folder.
	asksAt time.Time
	// picked are the choices that were taken, as "question: label".
	picked []string
	// blank is a screen without a prompt until then.
	blank time.Time
	// late is how long it does not read its terminal, once it has drawn its prompt.
	late   time.Duration
	unread string
	readAt time.Time
	// hangs is for how long it shows what it showed before, from each text and Enter on.
	hangs     time.Duration
	hangsTill time.Time
	shows     profile.Screen
	// stands is what it shows in place of a text.
	stands string
	// deaf drops what it is given.
	deaf bool
	// busy says that it has not read what it was given when that is given.
	busy bool
	// onText and onEnter run after a text was given, and before an Enter is taken.
	onText, onEnter func()
	// changes happens once, as soon as changesAt has passed.
	changes   func()
	changesAt time.Time
	// gone says that it has ended.
	gone bool

	typedAt time.Time
	given   []string
}

type dialog struct {
	question string
	labels   []string
	selected int
	// drawn is when it was first looked at: like Claude Code, it drops keys that come right
	// after that.
	drawn time.Time
	// slow is for how long it shows only a part of itself.
	slow time.Duration
	// next comes after it.
	next *dialog
	// lists says that a digit only selects, plain that rows have no digits.
	lists bool
}

const rule = "────────────────────────────────────────"

func (f *fake) Screen(context.Context) (profile.Screen, error) {
	if f.gone {
		return profile.Screen{}, swarm.ErrNotFound
	}
	if f.unread != "" && !time.Now().Before(f.readAt) {
		f.text(f.unread)
		f.unread = ""
	}
	if time.Now().After(f.hangsTill) {
		f.shows = f.screen()
	}
	return f.shows, nil
}

func (f *fake) screen() profile.Screen {
	if !f.idleAt.IsZero() && !time.Now().Before(f.idleAt) {
		f.idleAt, f.works = time.Time{}, false
	}
	if !f.asksAt.IsZero() && !time.Now().Before(f.asksAt) {
		f.dialog, f.asksAt = trust(), time.Time{}
	}
	if f.changes != nil && !time.Now().Before(f.changesAt) {
		f.changes()
		f.changes = nil
	}
	if time.Now().Before(f.blank) {
		return profile.Screen{}
	}
	lines := []string{" ▐▛███▛█   Claude Code v2.1.330", ""}
	for _, text := range f.said {
		lines = append(lines, "❯ "+text, "")
	}
	if d := f.dialog; d != nil {
		if d.drawn.IsZero() {
			d.drawn = time.Now()
		}
		lines = append(append(lines, rule), strings.Split(" "+d.question, "\n")...)
		labels := d.labels
		if time.Since(d.drawn) < d.slow {
			labels = labels[:len(labels)-1]
		}
		for i, label := range labels {
			mark := " "
			if i == d.selected {
				mark = "❯"
			}
			lines = append(lines, fmt.Sprintf(" %s %d. %s", mark, i+1, label))
		}
		return profile.Screen{Lines: append(lines, "", " Esc to cancel · Tab to amend")}
	}
	hint := "  ? for shortcuts"
	if f.works {
		hint = "  esc to interrupt"
	}
	draft := f.draft
	if draft != "" && f.stands != "" {
		draft = f.stands
	}
	if draft == "" {
		draft = f.ghost
	}
	if f.survey {
		lines = append(lines, "● How is Claude doing this session? (optional)", "  1: Bad    2: Fine   3: Good   0: Dismiss", "")
	}
	s := profile.Screen{Lines: slices.Concat(lines, []string{rule}, strings.Split("❯ "+draft, "\n"), []string{rule, hint})}
	if !f.plain {
		for _, line := range s.Lines {
			if f.draft == "" && f.ghost != "" && line == "❯ "+f.ghost {
				line = "❯ \x1b[2m" + f.ghost + "\x1b[0m"
			}
			s.Styled = append(s.Styled, "\x1b[39m"+line)
		}
	}
	return s
}

func (f *fake) Input(_ context.Context, in swarm.Input) (swarm.InputResult, error) {
	if d := time.Until(f.readAt); f.unread != "" && len(in.Data) == 0 {
		// Inputs come one after another.
		time.Sleep(d)
		f.text(f.unread)
		f.unread = ""
	}
	if f.hangs > 0 {
		f.shows, f.hangsTill = f.screen(), time.Now().Add(f.hangs)
	}
	switch {
	case in.Kind == swarm.InputKeys:
		f.given = append(f.given, "<"+string(in.Data)+">")
		f.key(string(in.Data))
	case len(in.Data) > 0:
		f.given = append(f.given, string(in.Data))
		if !in.PasteOnly {
			panic("a text that may not be pasted")
		}
		if f.late > 0 {
			f.unread, f.readAt = string(in.Data), time.Now().Add(f.late)
			return swarm.InputResult{Pending: true}, nil
		}
		f.text(string(in.Data))
	}
	if in.Enter {
		f.given = append(f.given, "<Enter>")
		if f.onEnter != nil {
			f.onEnter()
		}
		f.key("Enter")
	}
	return swarm.InputResult{Pending: f.busy}, nil
}

func (f *fake) text(text string) {
	f.typedAt = time.Now()
	if f.dialog == nil && !f.deaf {
		if f.survey && f.draft == "" && len(text) == 1 && strings.Contains("0123", text) {
			f.survey, f.rated = false, f.rated+text
			return
		}
		at := len(f.draft) - f.cursor
		f.draft = f.draft[:at] + text + f.draft[at:]
	}
	if f.onText != nil {
		f.onText()
	}
}

func (f *fake) key(name string) {
	d := f.dialog
	switch {
	case f.deaf:
	case d != nil && time.Since(d.drawn) < 300*time.Millisecond:
	case d != nil && name == "Enter":
		f.pick(d.selected)
	case d != nil && name == "Down":
		d.selected = min(d.selected+1, len(d.labels)-1)
	case d != nil && name == "Up":
		d.selected = max(d.selected-1, 0)
	case d != nil && len(name) == 1 && int(name[0]-'1') < len(d.labels):
		d.selected = int(name[0] - '1')
		if !d.lists {
			f.pick(d.selected)
		}
	case name == "BSpace" && f.draft != "":
		f.draft = f.draft[:len(f.draft)-1]
	case name == "0":
		f.text(name)
	case name != "Enter":
	case time.Since(f.typedAt) < 120*time.Millisecond:
		f.draft += "\n"
	case f.popup != "":
		// Codex takes the mark away.
		f.draft, f.popup = strings.Replace(f.draft, f.mark, "", 1)+f.popup, ""
	case f.draft != "":
		f.said, f.draft, f.works = append(f.said, f.draft), "", true
	}
}

func (f *fake) pick(row int) {
	f.picked = append(f.picked, f.dialog.question+": "+f.dialog.labels[row])
	f.dialog = f.dialog.next
}

func trust() *dialog {
	return &dialog{question: "Do you trust the files in this folder?", labels: []string{"Yes, proceed", "No, exit"}}
}

func agent(t *testing.T, f *fake) *deliver.Agent {
	t.Helper()
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return &deliver.Agent{Name: "w", Profile: set.Named("claude"), Terminal: f, Quiet: time.Hour}
}

func (f *fake) wantGiven(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(f.given, want) {
		t.Errorf("given %q, want %q", f.given, want)
	}
}

func (f *fake) wantSaid(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(f.said, want) {
		t.Errorf("submitted %q, want %q", f.said, want)
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want one with %q", err, text)
	}
}

// notes keeps a note in memory.
type notes struct{ note deliver.Note }

func (n *notes) Load() (deliver.Note, error) { return n.note, nil }

func (n *notes) Save(note deliver.Note) error {
	n.note = note
	return nil
}
