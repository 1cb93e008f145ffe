package deliver_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// form is an agent that asks a question as Claude Code does: with boxes, a field for a text and
// a row that sends, or without boxes.
type form struct {
	rows    []string
	checked map[int]bool
	boxes   bool
	// row is the selected one: the field comes after the rows, the one that sends after that.
	row   int
	field string
	// selects says that a digit only selects a row, deaf that keys do nothing.
	selects, deaf bool
	// sent is what was sent; declined says that the agent took it for a refusal.
	sent     []string
	over     bool
	declined bool
	given    []string
}

func (f *form) Screen(context.Context) (profile.Screen, error) {
	lines := []string{"❯ ask me", ""}
	if f.over {
		if f.declined {
			lines = append(lines, "● Declined to answer Claude's questions:", "  ⎿  · Which spreads?")
		}
		return profile.Screen{Lines: append(lines, rule, "❯ ", rule, "  ? for shortcuts")}, nil
	}
	lines = append(lines, rule, "←  ☐ Spreads  ✔ Submit  →", "", "Which spreads do you like?", "")
	mark := func(i int) string {
		if i == f.row {
			return "❯"
		}
		return " "
	}
	box := func(i int) string {
		switch {
		case !f.boxes:
			return ""
		case f.checked[i]:
			return "[✔] "
		default:
			return "[ ] "
		}
	}
	field := f.field
	if field == "" {
		field = "Type something."
	}
	for i, row := range append(slices.Clone(f.rows), field) {
		lines = append(lines, fmt.Sprintf("%s %d. %s%s", mark(i), i+1, box(i), row))
	}
	if f.boxes {
		lines = append(lines, mark(len(f.rows)+1)+"    Submit")
	}
	return profile.Screen{Lines: append(lines, "", "Enter to select · ↑/↓ to navigate · Esc to cancel")}, nil
}

func (f *form) Input(_ context.Context, in swarm.Input) (swarm.InputResult, error) {
	f.given = append(f.given, string(in.Data))
	key, field := string(in.Data), len(f.rows)
	switch {
	case f.deaf:
	case in.Kind != swarm.InputKeys && f.row == field:
		f.field += key
		f.checked[field] = true
	case in.Kind != swarm.InputKeys:
		panic("a text outside of the field")
	case key == "Down":
		f.row++
	case key == "Up":
		f.row--
	case key == "Enter" && f.boxes && f.row < field:
		f.checked[f.row] = !f.checked[f.row]
	case key == "Enter" && f.row == field && f.field == "":
		f.over, f.declined = true, true
	case key == "Enter":
		f.send()
	case f.row == field:
		f.field += key
	case f.selects:
		f.row = int(key[0] - '1')
	case f.boxes:
		f.row = int(key[0] - '1')
		f.checked[f.row] = !f.checked[f.row]
	default:
		f.row = int(key[0] - '1')
		f.send()
	}
	return swarm.InputResult{}, nil
}

func (f *form) send() {
	f.over = true
	for i, row := range append(slices.Clone(f.rows), f.field) {
		if f.boxes && f.checked[i] || !f.boxes && f.row == i {
			f.sent = append(f.sent, row)
		}
	}
}

func formAgent(t *testing.T, f *form) *deliver.Agent {
	t.Helper()
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	if f.checked == nil {
		f.checked = map[int]bool{}
	}
	return &deliver.Agent{Name: "w", Profile: set.Named("claude"), Terminal: f, Quiet: time.Hour}
}

func TestAnswerWithBoxes(t *testing.T) {
	for name, tt := range map[string]struct {
		reply   deliver.Reply
		checked map[int]bool
		sent    []string
		picked  string
		open    bool
	}{
		"several, not sent":  {reply: deliver.Reply{Choices: []string{"honey", "3"}}, picked: "Honey: checked, Butter: checked", open: true},
		"cleared":            {reply: deliver.Reply{Choice: "Honey"}, checked: map[int]bool{0: true}, picked: "Honey: not checked", open: true},
		"several":            {reply: deliver.Reply{Choices: []string{"Honey", "Butter"}, Submit: true}, sent: []string{"Honey", "Butter"}, picked: "Honey, Butter"},
		"exactly these":      {reply: deliver.Reply{Choices: []string{"Jam"}, Submit: true}, checked: map[int]bool{0: true, 1: true}, sent: []string{"Jam"}, picked: "Jam"},
		"by name":            {reply: deliver.Reply{Choices: []string{"Jam", "Submit"}}, sent: []string{"Jam"}, picked: "Jam"},
		"what is checked":    {reply: deliver.Reply{Submit: true}, checked: map[int]bool{2: true}, sent: []string{"Butter"}, picked: "Butter"},
		"a text":             {reply: deliver.Reply{Text: "peanut butter", Submit: true}, sent: []string{"peanut butter"}, picked: "Type something."},
		"a text and a box":   {reply: deliver.Reply{Choices: []string{"Jam"}, Text: "peanut butter", Submit: true}, sent: []string{"Jam", "peanut butter"}, picked: "Jam, Type something."},
		"a text, not sent":   {reply: deliver.Reply{Text: "peanut butter"}, picked: "Type something.: checked", open: true},
		"the row that sends": {reply: deliver.Reply{Choice: "Submit"}, checked: map[int]bool{0: true}, sent: []string{"Honey"}, picked: "Honey"},
	} {
		for _, selects := range []bool{false, true} {
			t.Run(fmt.Sprint(name, selects), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &form{rows: []string{"Honey", "Jam", "Butter"}, boxes: true, checked: map[int]bool{}, selects: selects, row: 1}
					maps.Copy(f.checked, tt.checked)
					out, err := formAgent(t, f).Answer(t.Context(), tt.reply)
					if err != nil || out.Open != tt.open || out.Picked() != tt.picked {
						t.Errorf("%+v, %q, %v", out, out.Picked(), err)
					}
					if !slices.Equal(f.sent, tt.sent) || f.over == tt.open {
						t.Errorf("sent %q, over %t, given %q", f.sent, f.over, f.given)
					}
				})
			})
		}
	}
}

func TestAnswerWithText(t *testing.T) {
	for _, reply := range []deliver.Reply{{Text: "rye, but fresh"}, {Choice: "type", Text: "rye, but fresh"}, {Choices: []string{"3"}, Text: "rye, but fresh"}} {
		synctest.Test(t, func(t *testing.T) {
			f := &form{rows: []string{"Rye", "Wheat"}}
			out, err := formAgent(t, f).Answer(t.Context(), reply)
			if err != nil || !slices.Equal(f.sent, []string{"rye, but fresh"}) || out.Text != "rye, but fresh" || out.Picked() != "Type something." {
				t.Errorf("%+v, %v, sent %q", out, err, f.sent)
			}
		})
	}
}

// An impossible answer is refused before any key is pressed.
func TestAnswerThatDoesNotFit(t *testing.T) {
	for name, tt := range map[string]struct {
		reply deliver.Reply
		form  form
		text  string
	}{
		"a field without a text": {deliver.Reply{Choice: "Type"}, form{}, "'Type something.' is a field for a text of your own: give the text with it"},
		"the same, with boxes":   {deliver.Reply{Choices: []string{"Honey", "Type"}, Submit: true}, form{boxes: true}, "is a field for a text"},
		"several without boxes":  {deliver.Reply{Choices: []string{"Honey", "Jam"}}, form{}, "takes one choice, or one text"},
		"a choice and a text":    {deliver.Reply{Choice: "Honey", Text: "x"}, form{}, "takes one choice, or one text"},
		"nothing that sends":     {deliver.Reply{Submit: true}, form{}, "has no choice that sends what is checked"},
		"one that is not there":  {deliver.Reply{Choices: []string{"Honey", "Marmite"}, Submit: true}, form{boxes: true}, "offers no choice 'Marmite'"},
		"a field with a text":    {deliver.Reply{Text: "x"}, form{field: "rye"}, "has no field for a text, or one that holds a text already"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := tt.form
			f.rows = []string{"Honey", "Jam"}
			_, err := formAgent(t, &f).Answer(t.Context(), tt.reply)
			if !errors.Is(err, deliver.ErrNoChoice) || !strings.Contains(err.Error(), tt.text) || len(f.given) > 0 {
				t.Errorf("%s: %v, given %q", name, err, f.given)
			}
		})
	}
}

// A box that does not change, and a text that does not appear, are not sent.
func TestAnswerThatIsNotShown(t *testing.T) {
	for _, reply := range []deliver.Reply{{Choices: []string{"Jam"}, Submit: true}, {Text: "rye", Submit: true}} {
		synctest.Test(t, func(t *testing.T) {
			f := &form{rows: []string{"Honey", "Jam"}, boxes: true, deaf: true}
			_, err := formAgent(t, f).Answer(t.Context(), reply)
			if !errors.Is(err, deliver.ErrNotAnswered) || len(f.given) != 1 {
				t.Errorf("%v, given %q", err, f.given)
			}
		})
	}
}

// emptied is a form whose field loses its text when Enter is pressed.
type emptied struct{ *form }

func (e *emptied) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	if string(in.Data) == "Enter" {
		e.field = ""
	}
	return e.form.Input(ctx, in)
}

// An agent that says it was given no answer was given none.
func TestAnswerThatIsDeclined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &form{rows: []string{"Rye", "Wheat"}}
		a := formAgent(t, f)
		a.Terminal = &emptied{f}
		if _, err := a.Answer(t.Context(), deliver.Reply{Text: "rye"}); !errors.Is(err, deliver.ErrNotAnswered) {
			t.Errorf("%v", err)
		}
	})
}
