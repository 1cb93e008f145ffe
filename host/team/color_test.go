package team

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

func TestPickColor(t *testing.T) {
	t.Parallel()
	// holders is one agent for each colour, which got it in the order of the pool.
	holders := func(edit func(all []registry.Agent)) []registry.Agent {
		var all []registry.Agent
		for i, c := range colors {
			all = append(all, registry.Agent{Color: c, Status: registry.AgentActive, ColorUsed: at(time.Duration(i) * time.Second)})
		}
		edit(all)
		return all
	}
	for what, c := range map[string]struct {
		live  []registry.Agent
		color int
		twice bool
	}{
		"no agent":                {nil, 0, false},
		"one":                     {holders(func([]registry.Agent) {})[:1], 1, false},
		"a gap":                   {slices.Delete(holders(func([]registry.Agent) {}), 3, 4), 3, false},
		"two gaps":                {slices.Delete(holders(func([]registry.Agent) {}), 3, 6), 3, false},
		"all in use":              {holders(func([]registry.Agent) {}), 0, true},
		"all, the first one last": {holders(func(all []registry.Agent) { all[0].ColorUsed = later }), 1, true},
		"one is away":             {holders(func(all []registry.Agent) { all[7].Status = registry.AgentInactive }), 7, true},
		"idle is not away":        {holders(func(all []registry.Agent) { all[7].Status = registry.AgentIdle }), 0, true},
		"two are away": {holders(func(all []registry.Agent) {
			all[7].Status, all[4].Status = registry.AgentInactive, registry.AgentInactive
		}), 4, true},
		"away, but shared": {append(holders(func(all []registry.Agent) {
			all[4].Status, all[7].Status = registry.AgentInactive, registry.AgentInactive
		}),
			registry.Agent{Color: colors[4], Status: registry.AgentActive, ColorUsed: now}), 7, true},
		"shared, used last": {append(holders(func([]registry.Agent) {}), registry.Agent{Color: colors[0], Status: registry.AgentActive, ColorUsed: later}), 1, true},
		"colours of others": {[]registry.Agent{{Color: "#000000", Status: registry.AgentActive}, {Color: "", Status: registry.AgentActive}}, 0, false},
	} {
		color, warning := pickColor(c.live)
		if color != colors[c.color] || (warning != "") != c.twice {
			t.Errorf("%s: %s (%d), want %s, warning %q", what, color, slices.Index(colors, color), colors[c.color], warning)
		}
	}
}

// The pool as agents come and go.
func TestColorPool(t *testing.T) {
	t.Parallel()
	q := newSquad(t)
	warnings := map[int]string{}
	for i := range 12 {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			name := fmt.Sprintf("a%d", i)
			_, warning, err := Join(ctx, tx, entryOf(name), "w-"+name, "red-"+name, "t-"+name, at(time.Duration(i)*time.Second))
			if warning != "" {
				warnings[i] = warning
			}
			return err
		})
	}
	for i, want := range slices.Concat(colors, colors[:2]) {
		if got := q.agent(fmt.Sprintf("a%d", i)).Color; got != want {
			t.Errorf("agent %d has %s, want %s", i, got, want)
		}
	}
	if len(warnings) != 2 || !strings.Contains(warnings[10], colors[0]) || !strings.Contains(warnings[11], colors[1]) {
		t.Errorf("warnings %v", warnings)
	}
	// The colour of one that has ended is free.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Release(ctx, tx, "agent-a5", Departure{Phase: registry.ShutdownForceKilled}, later)
		return err
	})
	q.enter("next")
	if got := q.agent("next").Color; got != colors[5] {
		t.Errorf("the next has %s, want %s", got, colors[5])
	}
	// Another team has a pool of its own.
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		if _, err := Create(ctx, tx, person, New{Name: "blue"}, now); err != nil {
			return err
		}
		a, warning, err := Join(ctx, tx, Entry{Team: "blue", ID: "agent-x"}, "w-x", "blue-x", "", now)
		if a.Color != colors[0] || warning != "" {
			t.Errorf("in another team: %s, %q", a.Color, warning)
		}
		return err
	})
}
