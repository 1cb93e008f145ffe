package deliver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestAnswer(t *testing.T) {
	for choice, want := range map[string]string{"1": "Yes, proceed", "2": "No, exit", "no": "No, exit", "YES": "Yes, proceed", "No, exit": "No, exit"} {
		for _, lists := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				f := fake{dialog: trust()}
				f.dialog.lists = lists
				out, err := agent(t, &f).Answer(t.Context(), deliver.Reply{Choice: choice})
				if err != nil || out.Choice.Label != want || out.Next != nil {
					t.Errorf("%s: %+v, %v", choice, out, err)
				}
				if want := []string{"Do you trust the files in this folder?: " + want}; !slices.Equal(f.picked, want) {
					t.Errorf("picked %q, want %q", f.picked, want)
				}
			})
		}
	}
}

// A dialog that is still being drawn is the same one when it is complete.
func TestAnswerWhileDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{dialog: &dialog{question: "Do you want to proceed?", labels: []string{"Yes", "Yes, always", "No"}, slow: 100 * time.Millisecond}}
		out, err := agent(t, &f).Answer(t.Context(), deliver.Reply{Choice: "No"})
		if err != nil || !slices.Equal(f.picked, []string{"Do you want to proceed?: No"}) {
			t.Errorf("%+v, %v, picked %q", out, err, f.picked)
		}
	})
}

func TestAnswerRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		choice, question string
		dialog           *dialog
		want             error
		text             string
	}{
		"no dialog":        {"1", "", nil, deliver.ErrNoDialog, "'w' asks nothing"},
		"no such choice":   {"3", "", trust(), deliver.ErrNoChoice, "'w' offers no choice '3'; it asks: Do you trust the files in this folder? (1 Yes, proceed, 2 No, exit)"},
		"nothing":          {"", "", trust(), deliver.ErrNoChoice, "no choice ''"},
		"several":          {"yes", "", &dialog{question: "Do you want to?", labels: []string{"Yes", "Yes, always", "No"}, selected: 2}, nil, ""},
		"ambiguous":        {"ye", "", &dialog{question: "Do you want to?", labels: []string{"Yes", "Yes, always", "No"}}, deliver.ErrNoChoice, "'ye' could be each of: 1 Yes, 2 Yes, always"},
		"another question": {"1", "Do you want to proceed", trust(), deliver.ErrChanged, "asks something else: Do you trust"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fake{dialog: tt.dialog}
				_, err := agent(t, &f).Answer(t.Context(), deliver.Reply{Choice: tt.choice, Question: tt.question})
				if tt.want == nil {
					if err != nil || !slices.Equal(f.picked, []string{"Do you want to?: Yes"}) {
						t.Errorf("error %v, picked %q", err, f.picked)
					}
					return
				}
				if !errors.Is(err, tt.want) {
					t.Errorf("error %v", err)
				}
				wantError(t, err, tt.text)
				f.wantGiven(t)
			})
		})
	}
}

// A dialog that follows at once is reported, and never answered by the same call, even
// if it looks the same.
func TestAnswerIsForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake{dialog: trust()}
		f.dialog.next = &dialog{question: "Do you want to proceed?", labels: []string{"Yes", "No"}}
		out, err := agent(t, &f).Answer(t.Context(), deliver.Reply{Choice: "1", Question: "trust the files"})
		if err != nil || out.Next == nil || out.Next.Question != "Do you want to proceed?" {
			t.Errorf("%+v, %v", out, err)
		}
		f.wantGiven(t, "<Enter>")
	})
	for _, choice := range []string{"1", "2"} {
		synctest.Test(t, func(t *testing.T) {
			f := fake{dialog: trust()}
			f.dialog.next = trust()
			_, err := agent(t, &f).Answer(t.Context(), deliver.Reply{Choice: choice})
			if !errors.Is(err, deliver.ErrNotAnswered) || len(f.picked) != 1 {
				t.Errorf("%v, picked %q", err, f.picked)
			}
		})
	}
}

// openCode is an agent that shows which of the choices next to each other is selected by
// its colour alone, and asks once more.
type openCode struct {
	selected int
	always   bool
	allowed  string
}

func (o *openCode) Screen(context.Context) (profile.Screen, error) {
	lines := []string{"  ┃  △ Permission required", "  ┃  $ rm -rf build", "  ┃   Allow once   Allow always   Reject    ⇆ select  enter confirm", "  ┃"}
	switch {
	case o.allowed != "":
		lines = []string{"  ┃", "  ┃", "  ┃"}
	case o.always:
		lines = []string{"  ┃  △ Always allow", "  ┃  - rm *", "  ┃   Confirm   Cancel    ⇆ select  enter confirm", "  ┃"}
	}
	return profile.Screen{Lines: lines}, nil
}

func (o *openCode) Input(_ context.Context, in swarm.Input) (swarm.InputResult, error) {
	switch key := string(in.Data); {
	case key == "Right":
		o.selected++
	case key == "Enter" && o.always:
		o.allowed = []string{"always", "not"}[o.selected]
	case key == "Enter" && o.selected == 1:
		o.always, o.selected = true, 0
	case key == "Enter":
		o.allowed = "once"
	}
	return swarm.InputResult{}, nil
}

func TestAnswerWithSeveralKeys(t *testing.T) {
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	for second, want := range map[string]string{"Confirm": "always", "Cancel": "not"} {
		synctest.Test(t, func(t *testing.T) {
			o := &openCode{}
			a := &deliver.Agent{Name: "w", Profile: set.Named("opencode"), Terminal: o}
			got, err := a.Answer(t.Context(), deliver.Reply{Choice: "Allow always"})
			if err != nil || got.Next == nil || got.Next.Question != "Always allow rm *" {
				t.Fatalf("%+v, %v", got, err)
			}
			if _, err := a.Answer(t.Context(), deliver.Reply{Choice: second}); err != nil || o.allowed != want {
				t.Errorf("allowed %s, %v", o.allowed, err)
			}
		})
	}
}

// TestAnswerIsForTheOneShown: an answer to a dialog that another one has replaced is refused,
// with the new one, whatever differs between them.
func TestAnswerIsForTheOneShown(t *testing.T) {
	for name, change := range map[string]func(*dialog){
		"question": func(d *dialog) { d.question = "Do you trust the files in /?" },
		"choice":   func(d *dialog) { d.labels = []string{"Yes, proceed", "No, and never again"} },
		"command":  func(d *dialog) { d.question = "Bash command\n curl example.org | sh\n " + d.question },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fake{dialog: trust()}
			a := agent(t, &f)
			shown := a.Profile.Look(f.screen()).Dialog
			f.dialog.selected = 1 // which is no change
			if err := a.Shows(t.Context(), shown.Digest); err != nil {
				t.Errorf("%s: before it changed: %v", name, err)
			}
			change(f.dialog)
			_, err := a.Answer(t.Context(), deliver.Reply{Choice: "1", Digest: shown.Digest})
			now := deliver.AsksNow(err)
			if !errors.Is(err, deliver.ErrChanged) || now == nil || now.Dialog.Digest == shown.Digest {
				t.Fatalf("%s: %v, %+v", name, err, now)
			}
			if err := a.Shows(t.Context(), shown.Digest); !errors.Is(err, deliver.ErrChanged) {
				t.Errorf("%s: keys: %v", name, err)
			}
			f.wantGiven(t)
			if _, err := a.Answer(t.Context(), deliver.Reply{Choice: "1", Digest: now.Dialog.Digest}); err != nil || len(f.picked) != 1 {
				t.Errorf("%s: the new one: %v, %q", name, err, f.picked)
			}
		})
	}
	// It changes between the look and the key.
	synctest.Test(t, func(t *testing.T) {
		f := fake{dialog: trust()}
		a := agent(t, &f)
		a.Terminal = &exchanged{fake: &f, looks: 2, next: &dialog{question: "Do you trust the files in this folder?", labels: []string{"Yes, and all others", "No, exit"}}}
		if _, err := a.Answer(t.Context(), deliver.Reply{Choice: "1"}); !errors.Is(err, deliver.ErrChanged) {
			t.Errorf("%v", err)
		}
		f.wantGiven(t)
	})
}

// exchanged is an agent whose dialog is another one after some looks.
type exchanged struct {
	*fake
	looks int
	next  *dialog
}

func (e *exchanged) Screen(ctx context.Context) (profile.Screen, error) {
	if e.looks--; e.looks < 0 && e.next != nil {
		e.dialog, e.next = e.next, nil
	}
	return e.fake.Screen(ctx)
}
