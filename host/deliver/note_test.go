package deliver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
)

var errKilled = errors.New("killed")

// cutOff delivers a text with a call that is cut off at a moment.
func cutOff(t *testing.T, f *fake, n *notes, text string, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), after, errKilled)
	defer cancel()
	a := agent(t, f)
	a.Notes = n
	if err := a.Text(ctx, text, true); err != nil && !errors.Is(err, errKilled) {
		t.Fatalf("cut off after %v: %v", after, err)
	}
}

// A delivery is cut off at any moment. Whatever it has done, the next one of the same text
// has it submitted, and once.
func TestTextAfterOneThatWasCutOff(t *testing.T) {
	long := strings.Repeat("a line\n", 30)
	for name, tt := range map[string]struct {
		agent fake
		text  string
	}{
		"short":       {fake{}, "fix the tests"},
		"one letter":  {fake{}, "y"},
		"long":        {fake{stands: "[Pasted text #1 +30 lines]"}, long},
		"reads late":  {fake{late: 600 * time.Millisecond}, "fix the tests"},
		"shows late":  {fake{hangs: 400 * time.Millisecond}, "fix the tests"},
		"is at work":  {fake{works: true}, "fix the tests"},
		"completions": {fake{popup: ".go "}, "look at @main"},
	} {
		t.Run(name, func(t *testing.T) {
			for after := time.Millisecond; after < 3*time.Second; after += 37 * time.Millisecond {
				synctest.Test(t, func(t *testing.T) {
					f, n := tt.agent, notes{}
					cutOff(t, &f, &n, tt.text, after)
					a := agent(t, &f)
					a.Notes = &n
					whole := n.note == deliver.Note{} && len(f.said) == 1
					if whole {
						return // it was faster
					}
					if err := a.Text(t.Context(), tt.text, true); err != nil {
						t.Fatalf("after %v: %v", after, err)
					}
					f.wantSaid(t, tt.text+tt.agent.popup)
					if n.note != (deliver.Note{}) {
						t.Errorf("after %v: a note is left: %+v", after, n.note)
					}
				})
			}
		})
	}
}

// The same text is another one a minute later, and after one that ended.
func TestTextThatIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, n := fake{}, notes{}
		f.onEnter = func() {
			f.shows, f.hangsTill = f.screen(), time.Now().Add(time.Second)
			f.onEnter = nil
		}
		cutOff(t, &f, &n, "continue", 600*time.Millisecond)
		f.wantSaid(t, "continue")
		if !n.note.Entered {
			t.Fatalf("note %+v", n.note)
		}
		time.Sleep(2 * time.Minute)
		a := agent(t, &f)
		a.Notes = &n
		for range 2 {
			if err := a.Text(t.Context(), "continue", true); err != nil {
				t.Fatal(err)
			}
		}
		f.wantSaid(t, "continue", "continue", "continue")
	})
}

// A text that was cut off is not submitted together with another one.
func TestAnotherTextAfterOneThatWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, n := fake{late: time.Second}, notes{}
		cutOff(t, &f, &n, "fix the tests", 300*time.Millisecond)
		a := agent(t, &f)
		a.Notes = &n
		err := a.Text(t.Context(), "write the docs", true)
		if !errors.Is(err, deliver.ErrDraft) || len(f.said) > 0 {
			t.Errorf("error %v, submitted %q", err, f.said)
		}
	})
}
