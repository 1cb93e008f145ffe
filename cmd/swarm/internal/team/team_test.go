package team

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/agent"
)

func TestTeamTexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for got, want := range map[string]string{
		tasksLine(map[string]int{"in_progress": 2, "pending": 0, "completed": 1}):                   "3 tasks: 2 in progress, 1 completed",
		teamLine(agent.Team{Name: "web", Description: "a\nb", Created: now.Add(-time.Minute)}, now): `web: a\nb (led by a person, created 1m ago)`,
		teamLine(agent.Team{Name: "web", Leader: "boss", Created: now}, now):                        "web (led by boss, created 0s ago)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
