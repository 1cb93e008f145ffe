package team

import (
	"errors"
	"regexp"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

// A team is made, shown and deleted without a plugin.
func TestVerbs(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := apptest.WithState(t)
	ctx := t.Context()
	age := regexp.MustCompile(`\d+s ago`)
	says := func(want string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got := age.ReplaceAllString(stdout.String(), "AGE"); got != want {
			t.Errorf("stdout %q, want %q", got, want)
		}
		stdout.Reset()
	}
	says("", runLs(ctx, a, false))
	says("[]\n", runLs(ctx, a, true))
	says("created team web\n", runCreate(ctx, a, tool.SpawnTeamInput{TeamName: "web", Description: "the shop"}, false))
	says("NAME  LEADER  AGENTS  CREATED  DESCRIPTION\nweb   -       0       AGE   the shop\n", runLs(ctx, a, false))
	says("web: the shop (led by a person, created AGE)\nno tasks\nno agents\n", runShow(ctx, a, "web", false))
	err := runShow(ctx, a, "wbe", false)
	if _, ok := errors.AsType[*team.NoTeamError](err); !ok {
		t.Errorf("a team that does not exist: %v", err)
	}
	says("deleted team web\n", runDelete(ctx, a, "web", false, false))
	if stderr.Len() > 0 {
		t.Errorf("stderr %q", stderr)
	}
}
