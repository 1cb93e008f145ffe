package deliver_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/swarmhost/swarm/host/deliver"
)

// A text that a killed process has typed is submitted, and not typed again.
func TestSubmit(t *testing.T) {
	const text = "swarm: 2 new messages for you"
	for name, tt := range map[string]struct {
		fake    fake
		idle    bool
		pressed bool
		want    error
		given   []string
		said    []string
	}{
		"it is there":       {fake: fake{draft: text}, pressed: true, given: []string{"<Enter>"}, said: []string{text}},
		"it is not":         {},
		"something else is": {fake: fake{draft: "my own words"}},
		"it is after that":  {fake: fake{draft: "my own words" + text}, want: deliver.ErrDraft},
		"at a dialog":       {fake: fake{draft: text, dialog: trust()}, want: deliver.ErrAsks},
		"while it works":    {fake: fake{draft: text, works: true}, idle: true, want: deliver.ErrWorks},
		"it is not taken":   {fake: fake{draft: text, deaf: true}, pressed: true, want: deliver.ErrNotSubmitted, given: []string{"<Enter>", "<Enter>"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := tt.fake
				a := agent(t, &f)
				a.Idle = tt.idle
				pressed, err := a.Submit(t.Context(), text)
				if pressed != tt.pressed || !errors.Is(err, tt.want) {
					t.Errorf("pressed %v, error %v", pressed, err)
				}
				f.wantGiven(t, tt.given...)
				f.wantSaid(t, tt.said...)
			})
		})
	}
}

// An agent that must be idle gets nothing while it works.
func TestTextForTheIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{works: true}
		a := agent(t, &f)
		a.Idle = true
		if err := a.Text(t.Context(), "hello", true); !errors.Is(err, deliver.ErrWorks) {
			t.Errorf("error %v", err)
		}
		f.wantGiven(t)
		f.works = false
		if err := a.Text(t.Context(), "hello", true); err != nil {
			t.Error(err)
		}
		f.wantSaid(t, "hello")
	})
}

// A prompt that must be empty gets nothing while it holds a text.
func TestTextForAnEmptyPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{draft: "my own words"}
		a := agent(t, &f)
		a.Empty = true
		if err := a.Text(t.Context(), "hello", true); !errors.Is(err, deliver.ErrDraft) {
			t.Errorf("error %v", err)
		}
		f.wantGiven(t)
		f.draft = ""
		if err := a.Text(t.Context(), "hello", true); err != nil {
			t.Error(err)
		}
		f.wantSaid(t, "hello")
	})
}
