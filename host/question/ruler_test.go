package question

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/answers"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestRuler(t *testing.T) {
	t.Parallel()
	rules := []answers.Rule{{Source: "rule 1", Command: "git status*", Answer: answers.Allow}}
	var broken, refused error
	var given []string
	r := NewRuler(RulerOptions{
		Rules: func(directories []string) ([]answers.Rule, error) {
			if diff := cmp.Diff([]string{"/p", "/repo", "/repo/w"}, directories); diff != "" {
				t.Errorf("directories (-want +got):\n%s", diff)
			}
			return rules, broken
		},
		Answer: func(_ context.Context, id, who string, r deliver.Reply) error {
			given = append(given, id+" "+who+" "+r.Choice+" "+r.Digest)
			return refused
		},
		Logger: hclog.NewNullLogger(),
	})
	var rec registry.Record
	rec.ID, rec.Name, rec.Dir, rec.Project = "id", "w", "/repo/w", "/p/swarm.toml"
	rec.Workspace = &swarm.WorkspaceRef{Base: "/repo"}
	asks := func(digest, command string) *judgement.State {
		return &judgement.State{
			Profile: "claude", State: profile.Blocked, Choices: []profile.Choice{{Key: "1", Label: "Yes"}, {Key: "2", Label: "No"}},
			Dialog: profile.Dialog{Digest: digest, Command: []string{command}, Shell: true, Framed: true},
		}
	}
	cut, loose, unseen, long := asks("c", "git status"), asks("l", "git status"), asks("", "git status"), asks("n", "git status")
	cut.Dialog.Cut, cut.Dialog.Framed = true, false
	loose.Dialog.Framed = false
	tool := asks("t", "git status")
	tool.Dialog.Shell = false
	long.Dialog.Command = []string{"git status", "--short"}
	for _, c := range []struct {
		name   string
		change func()
		state  *judgement.State
		want   string
	}{
		{"idle", nil, &judgement.State{State: profile.Idle}, ""},
		{"no state", nil, nil, ""},
		{"cut", nil, cut, ""},
		{"without a certain frame", nil, loose, ""},
		{"not on the screen", nil, unseen, ""},
		{"of two lines", nil, long, ""},
		{"the input of another tool", nil, tool, ""},
		{"another command", nil, asks("b", "rm -rf /"), ""},
		{"with a mistake in a file", func() { broken = errors.New("mistake") }, asks("a", "git status"), ""},
		{"decided", func() { broken = nil }, asks("a", "git status"), "id rule 1 1 a"},
		{"the same dialog again after an answer", nil, asks("a", "git status"), "id rule 1 1 a"},
		{"refused", func() { refused = errors.New("changed") }, asks("a", "git status -s"), "id rule 1 1 a"},
		{"which stays", nil, asks("a", "git status -s"), ""},
		{"and another one", nil, asks("d", "git status -s"), "id rule 1 1 d"},
		{"gone meanwhile", nil, &judgement.State{State: profile.Working}, ""},
		{"and asked again", func() { refused = nil }, asks("d", "git status -s"), "id rule 1 1 d"},
	} {
		if c.change != nil {
			c.change()
		}
		given = nil
		r.Apply(t.Context(), []registry.Record{rec}, map[string]*judgement.State{"id": c.state})
		if c.want == "" && given != nil || c.want != "" && (len(given) != 1 || given[0] != c.want) {
			t.Errorf("%s: given %q, want %q", c.name, given, c.want)
		}
	}
}
