package deliver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestTextIsSubmitted(t *testing.T) {
	for name, tt := range map[string]struct {
		agent fake
		text  string
		enter int
	}{
		"idle":                  {fake{}, "fix the tests", 1},
		"one letter":            {fake{}, "y", 1},
		"a command":             {fake{}, "!rm x", 1},
		"several lines":         {fake{}, "one\ntwo\nthree", 1},
		"busy":                  {fake{works: true}, "also the docs", 1},
		"a proposal":            {fake{ghost: "run the tests"}, "fix the tests", 1},
		"a like proposal":       {fake{ghost: "yes, continue"}, "y", 1},
		"a proposal, no styles": {fake{ghost: "run the tests", plain: true}, "fix the tests", 1},
		"a like one, no styles": {fake{ghost: "yes, continue", plain: true}, "y", 1},
		"not drawn yet":         {fake{blank: time.Now().Add(time.Hour)}, "at once", 1},
		"drawn but not reading": {fake{late: 6 * time.Second}, "at once", 1},
		"a completion":          {fake{popup: ".go "}, "look at @main", 2},
		"a completion, no mark": {fake{popup: ".go ", mark: "@"}, "look at @main", 2},
		"a completion alone":    {fake{popup: ".go ", mark: "@"}, "@main", 2},
		"a completion, busy":    {fake{popup: ".go ", works: true, idle: true}, "look at @main", 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := tt.agent
				if f.idle {
					f.idleAt = time.Now().Add(time.Second)
				}
				if !f.blank.IsZero() {
					f.blank = time.Now().Add(6 * time.Second)
				}
				if err := agent(t, &f).Text(t.Context(), tt.text, true); err != nil {
					t.Fatal(err)
				}
				want := []string{tt.text, "<Enter>"}
				if tt.enter == 2 {
					want = append(want, "<Enter>")
				}
				f.wantGiven(t, want...)
				f.wantSaid(t, strings.Replace(tt.text, tt.agent.mark, "", 1)+tt.agent.popup)
			})
		})
	}
}

// An agent that hangs reads the text and Enter at once, and takes Enter for a part of it.
func TestEnterThatIsReadWithTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{}
		f.onEnter = func() { f.typedAt, f.onEnter = time.Now(), nil }
		if err := agent(t, &f).Text(t.Context(), "fix the tests", true); err != nil {
			t.Fatal(err)
		}
		f.wantGiven(t, "fix the tests", "<Enter>", "<Enter>")
		f.wantSaid(t, "fix the tests\n")
	})
}

// An Enter that was read and dropped is pressed again.
func TestEnterThatIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{changesAt: time.Now().Add(2 * time.Second)}
		f.onText = func() { f.deaf = true }
		f.changes = func() { f.deaf = false }
		if err := agent(t, &f).Text(t.Context(), "fix the tests", true); err != nil {
			t.Fatal(err)
		}
		f.wantGiven(t, "fix the tests", "<Enter>", "<Enter>")
		f.wantSaid(t, "fix the tests")
	})
}

// So is one that a completion took after that: Qwen Code drops the first Enter.
func TestEnterThatIsDroppedBeforeACompletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{popup: ".go ", changesAt: time.Now().Add(2 * time.Second)}
		f.onText = func() { f.deaf = true }
		f.changes = func() { f.deaf = false }
		if err := agent(t, &f).Text(t.Context(), "look at @main", true); err != nil {
			t.Fatal(err)
		}
		f.wantGiven(t, "look at @main", "<Enter>", "<Enter>", "<Enter>")
		f.wantSaid(t, "look at @main.go ")
	})
}

func TestTextWithoutEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{}
		if err := agent(t, &f).Text(t.Context(), "half a", false); err != nil {
			t.Fatal(err)
		}
		f.wantGiven(t, "half a")
		if f.draft != "half a" {
			t.Errorf("draft %q", f.draft)
		}
	})
}

func TestTextAtADialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{dialog: trust()}
		err := agent(t, &f).Text(t.Context(), "fix it", true)
		if !errors.Is(err, deliver.ErrAsks) {
			t.Errorf("error %v", err)
		}
		wantError(t, err, "'w' asks: Do you trust the files in this folder? (1 Yes, proceed, 2 No, exit)")
		f.wantGiven(t)
	})
}

// A dialog that comes between the text and Enter is not granted.
// A prompt that was drawn just now may be followed by a dialog, so nothing is typed at it.
func TestDialogAfterAYoungPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{asksAt: time.Now().Add(200 * time.Millisecond)}
		a := agent(t, f)
		a.Quiet = 20 * time.Millisecond
		err := a.Text(t.Context(), "1 of 3", true)
		if asks, ok := errors.AsType[*deliver.AsksError](err); !ok || asks.Typed {
			t.Errorf("%v", err)
		}
		f.wantGiven(t)
	})
}

func TestDialogAfterTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{}
		f.onText = func() { f.dialog = trust() }
		err := agent(t, &f).Text(t.Context(), "fix it", true)
		wantError(t, err, "not submitted")
		if !errors.Is(err, deliver.ErrAsks) || len(f.picked) > 0 {
			t.Errorf("error %v, picked %q", err, f.picked)
		}
		f.wantGiven(t, "fix it")
	})
}

// One that comes after Enter, because of the text, says that the text was taken.
func TestDialogAfterEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{}
		f.onEnter = func() {
			f.key("Enter")
			f.dialog, f.onEnter = trust(), nil
			f.deaf = true
		}
		if err := agent(t, &f).Text(t.Context(), "fix it", true); err != nil {
			t.Fatal(err)
		}
		f.wantGiven(t, "fix it", "<Enter>")
		f.wantSaid(t, "fix it")
	})
}

// A process that was killed between text and Enter left the text at the prompt. It is not
// typed again.
func TestTextThatIsThereAlready(t *testing.T) {
	for _, works := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := fake{draft: "fix the tests", works: works}
			if err := agent(t, &f).Text(t.Context(), "fix the tests", true); err != nil {
				t.Fatal(err)
			}
			f.wantGiven(t, "<Enter>")
			f.wantSaid(t, "fix the tests")
		})
	}
	for name, draft := range map[string]string{
		"after another": "please fix the tests",
		"a long one":    "[Pasted text #1 +20 lines]",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fake{draft: draft}
				err := agent(t, &f).Text(t.Context(), "fix the tests", true)
				if !errors.Is(err, deliver.ErrDraft) {
					t.Errorf("error %v", err)
				}
				f.wantGiven(t)
			})
		})
	}
}

// A text that a person has begun to type is seen wherever the cursor is in it, and nothing
// is typed there.
func TestTextAtADraft(t *testing.T) {
	const draft = "do not delete"
	for name, text := range map[string]string{
		"a text": "fix the tests", "a letter": "y", "blanks": "  ", "a command": "/compact", "its beginning": "do", "more of it": "do not delete anything",
	} {
		for _, cursor := range []int{0, 6, len(draft)} {
			synctest.Test(t, func(t *testing.T) {
				f := fake{draft: draft, cursor: cursor}
				err := agent(t, &f).Text(t.Context(), text, true)
				if !errors.Is(err, deliver.ErrDraft) {
					t.Errorf("%s: error %v", name, err)
				}
				wantError(t, err, "'w' has an unsent text at its prompt, nothing was typed: "+draft)
				f.wantGiven(t)
			})
		}
	}
}

// Without styles a draft looks like a proposal. It is seen once the text stands next to it,
// and not submitted.
func TestTextAtADraftWithoutStyles(t *testing.T) {
	const draft = "do not delete "
	for _, cursor := range []int{0, 7, len(draft)} {
		for _, text := range []string{"please", "fix the tests of everything", "read @main.go"} {
			synctest.Test(t, func(t *testing.T) {
				f := fake{draft: draft, cursor: cursor, plain: true}
				err := agent(t, &f).Text(t.Context(), text, true)
				if !errors.Is(err, deliver.ErrDraft) {
					t.Errorf("%q, cursor %d: error %v", text, cursor, err)
				}
				f.wantGiven(t, text)
				f.wantSaid(t)
				// Neither does the next one make it worse.
				if err := agent(t, &f).Text(t.Context(), text, true); cursor == 0 && !errors.Is(err, deliver.ErrDraft) {
					t.Errorf("%q once more: error %v", text, err)
				}
				f.wantSaid(t)
			})
		}
	}
}

// Text that a person types between the look and the text, or between the text and Enter, is not
// submitted with it.
func TestTextWhileAPersonTypes(t *testing.T) {
	for name, change := range map[string]func(f *fake){
		"before it": func(f *fake) { f.draft = "do not " + f.draft },
		"behind it": func(f *fake) { f.draft += " or else" },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fake{}
			f.onText = func() { change(&f) }
			err := agent(t, &f).Text(t.Context(), "fix the tests", true)
			if !errors.Is(err, deliver.ErrDraft) {
				t.Errorf("%s: error %v", name, err)
			}
			wantError(t, err, "yours was typed there and not submitted")
			f.wantGiven(t, "fix the tests")
		})
		synctest.Test(t, func(t *testing.T) {
			f := fake{changesAt: time.Now().Add(100 * time.Millisecond)} // within the guard before Enter
			f.changes = func() { change(&f) }
			if err := agent(t, &f).Text(t.Context(), "fix the tests", true); !errors.Is(err, deliver.ErrDraft) {
				t.Errorf("%s, later: error %v", name, err)
			}
			f.wantGiven(t, "fix the tests")
		})
	}
}

// still is a terminal that always shows the same, and counts what it is given.
type still struct {
	screen profile.Screen
	given  int
}

func (s *still) Screen(context.Context) (profile.Screen, error) { return s.screen, nil }

func (s *still) Input(context.Context, swarm.Input) (swarm.InputResult, error) {
	s.given++
	return swarm.InputResult{}, nil
}

// TestTextWhileAnAgentOfLinesWorks: nothing is typed at an agent that has no prompt while it
// works, though the line that it works on looks like one.
func TestTextWhileAnAgentOfLinesWorks(t *testing.T) {
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		text, err := os.ReadFile("../profile/profiles/screens/goose/busy.txt")
		if err != nil {
			t.Fatal(err)
		}
		r, err := profile.ParseRecording("goose/busy", string(text))
		if err != nil {
			t.Fatal(err)
		}
		term := &still{screen: r.Screen}
		a := &deliver.Agent{Name: "w", Profile: set.Named("goose"), Terminal: term, Quiet: time.Hour}
		if err := a.Text(t.Context(), "please", true); !errors.Is(err, deliver.ErrNoPrompt) || term.given > 0 {
			t.Errorf("%v, %d inputs", err, term.given)
		}
	})
}

// TestRecordedDrafts: the drafts on the recorded screens of all agents are seen.
func TestRecordedDrafts(t *testing.T) {
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../profile/profiles/screens/*/*draft*.txt")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		synctest.Test(t, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, rows, _ := strings.Cut(string(text), "\n")
			term := &still{}
			for _, row := range screen.Styled(rows) {
				term.screen.Styled = append(term.screen.Styled, "\x1b[39m"+row)
				term.screen.Lines = append(term.screen.Lines, screen.Plain(row))
			}
			a := &deliver.Agent{Name: "w", Profile: set.Named(filepath.Base(filepath.Dir(file))), Terminal: term, Quiet: time.Hour}
			if err := a.Text(t.Context(), "please", true); !errors.Is(err, deliver.ErrDraft) {
				t.Errorf("%s: %v", file, err)
			}
			if term.given > 0 {
				t.Errorf("%s: %d inputs", file, term.given)
			}
		})
	}
}

func TestTextThatIsNotTaken(t *testing.T) {
	t.Run("no prompt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := fake{blank: time.Now().Add(time.Hour)}
			a := agent(t, &f)
			a.Timeout = 3 * time.Second
			err := a.Text(t.Context(), "x", true)
			wantError(t, err, "'w' does not show its prompt within 3s; its screen is empty")
			f.wantGiven(t)
		})
	})
	t.Run("dropped", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := fake{deaf: true}
			err := agent(t, &f).Text(t.Context(), "fix the tests", true)
			if !errors.Is(err, deliver.ErrNotSubmitted) {
				t.Errorf("error %v", err)
			}
			// Enter is not pressed where the text was not seen.
			f.wantGiven(t, "fix the tests")
		})
	})
	// Where it has not read the first Enter a second one might submit the text twice.
	for text, enters := range map[string]int{"fix the tests": 1, "/tests": 2, "fix @tests": 2} {
		t.Run("stays at the prompt: "+text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fake{}
				f.onText = func() { f.deaf, f.busy = true, true }
				err := agent(t, &f).Text(t.Context(), text, true)
				wantError(t, err, "does not show that it took it; its screen ends with:")
				f.wantGiven(t, append([]string{text}, slices.Repeat([]string{"<Enter>"}, enters)...)...)
			})
		})
	}
	t.Run("hangs, then asks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := fake{late: time.Hour}
			err := agent(t, &f).Text(t.Context(), "fix the tests", true)
			wantError(t, err, "does not show it; Enter was not pressed")
			f.wantGiven(t, "fix the tests")
		})
	})
	t.Run("hostile question", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := fake{dialog: trust()}
			f.dialog.question = "Do you \x1b]0;x\x07 want to\u202e?"
			err := agent(t, &f).Text(t.Context(), "x", true)
			if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07\u202e") {
				t.Errorf("error %q", err)
			}
		})
	})
}

func TestTextThatEndsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{}
		f.onEnter = func() { f.gone = true }
		if err := agent(t, &f).Text(t.Context(), "/quit", true); err != nil {
			t.Fatal(err)
		}
		f.wantGiven(t, "/quit", "<Enter>")
	})
}

// A survey takes a digit for a rating, so it is closed before a text of one letter.
func TestTextAtASurvey(t *testing.T) {
	for text, given := range map[string][]string{"2": {"<0>", "2", "<Enter>"}, "2 of 3": {"2 of 3", "<Enter>"}} {
		synctest.Test(t, func(t *testing.T) {
			f := fake{survey: true}
			if err := agent(t, &f).Text(t.Context(), text, true); err != nil {
				t.Fatal(err)
			}
			f.wantGiven(t, given...)
			f.wantSaid(t, text)
			if f.rated != "" && f.rated != "0" {
				t.Errorf("rated %s", f.rated)
			}
		})
	}
	// It closes by itself before the key comes.
	synctest.Test(t, func(t *testing.T) {
		f := fake{survey: true}
		a := agent(t, &f)
		a.Terminal = &closer{&f}
		if err := a.Text(t.Context(), "2", true); err != nil {
			t.Fatal(err)
		}
		f.wantGiven(t, "<0>", "<BSpace>", "2", "<Enter>")
		f.wantSaid(t, "2")
	})
	// One that comes after the look takes the text, which the screen does not show then.
	synctest.Test(t, func(t *testing.T) {
		f := fake{}
		a := agent(t, &f)
		a.Terminal = &opener{&f}
		if err := a.Text(t.Context(), "2", true); !errors.Is(err, deliver.ErrNotSubmitted) {
			t.Errorf("%v", err)
		}
		f.wantGiven(t, "2")
	})
}

// closer is an agent whose survey closes right before a key, opener one whose survey comes
// right before a text.
type (
	closer struct{ *fake }
	opener struct{ *fake }
)

func (c *closer) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	c.survey = false
	return c.fake.Input(ctx, in)
}

func (o *opener) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	o.survey = true
	return o.fake.Input(ctx, in)
}
