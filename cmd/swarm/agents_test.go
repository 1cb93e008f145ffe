//go:build agents

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/integration"
	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// agentCases are what every real agent must do as a worker.
var agentCases = []struct {
	name string
	run  func(t *testing.T, l *lab)
}{
	{"turn", testAgentTurn},
	{"quit", testAgentQuit},
	{"tree", testAgentTree},
	{"texts", testAgentTexts},
	{"early", testAgentEarly},
	{"busy", testAgentBusy},
	{"draft", testAgentDraft},
	{"image", testAgentImage},
	{"answers", testAgentAnswers},
	{"trust", testAgentTrust},
	{"permission", testAgentPermission},
	{"always", testAgentAlways},
	{"wake", testAgentWake},
	{"ralph", testAgentRalph},
	{"ralph-dialog", testAgentRalphDialog},
	{"ralph-headless", testAgentRalphHeadless},
	{"ralph-argument", testAgentRalphArgument},
	{"ralph-limit", testAgentRalphLimit},
	{"ralph-background", testAgentRalphBackground},
	{"ready", testAgentReady},
	{"states", testAgentStates},
	{"dialogs", testAgentDialogs},
	{"prose", testAgentProse},
	{"limit", testAgentLimit},
	{"sign-in", testAgentSignIn},
	{"questions", testAgentQuestions},
	{"connect", testAgentConnect},
	{"shells", testAgentShells},
	{"session end", testAgentSessionEnd},
	{"identity", testAgentIdentity},
	{"killed send", testAgentKilledSend},
	{"integrate", testAgentIntegrate},
	{"hook-answers", testAgentHookAnswers},
	{"allow-tools", testAgentAllowTools},
	{"team-tools", testAgentTeamTools},
	{"ralph-continue", testAgentRalphContinue},
	{"respawn-resume", testAgentRespawnResume},
	{"stopped", testAgentStopped},
	{"limited", testAgentLimited},
	{"background", testAgentBackground},
	{"question", testAgentQuestion},
}

// basicCases are those that clients run which swarm does not integrate into. The others have not
// been tried with them; SWARM_TEST_AGENTS_ALL=1 runs those too.
var basicCases = []string{"turn", "quit", "tree", "texts", "early", "busy", "draft", "trust", "permission", "ready", "states", "prose"}

// TestAgents runs each real coding agent as a worker under tmux against a model of our
// own: client × case. SWARM_TEST_AGENTS names the clients, SWARM_TEST_AGENTS_RUNS says how
// often each case runs. They run one after another: one of them keeps a processor busy
// while it starts.
func TestAgents(t *testing.T) {
	selected := selectedAgents(t)
	runs := 1
	if n := os.Getenv("SWARM_TEST_AGENTS_RUNS"); n != "" {
		var err error
		if runs, err = strconv.Atoi(n); err != nil {
			t.Fatalf("SWARM_TEST_AGENTS_RUNS: %v", err)
		}
	}
	for _, c := range clients {
		if !slices.Contains(selected, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for _, test := range agentCases {
				for run := range runs {
					name := test.name
					if runs > 1 {
						name = fmt.Sprintf("%s/%d", test.name, run+1)
					}
					t.Run(name, func(t *testing.T) {
						if reason := c.lacks[test.name]; reason != "" {
							t.Skip(reason)
						}
						if integration.Named(c.name) == nil && !slices.Contains(basicCases, test.name) && os.Getenv("SWARM_TEST_AGENTS_ALL") == "" {
							t.Skip("this case has not been tried with it: SWARM_TEST_AGENTS_ALL=1 runs it")
						}
						l := newLab(t, c)
						defer l.end()
						test.run(t, l)
					})
				}
			}
		})
	}
}

// selectedAgents returns the names of the clients to test.
func selectedAgents(t *testing.T) []string {
	t.Helper()
	if os.Getenv(envAgents) == "" {
		t.Fatalf("%s is not set: run make test-agents", envAgents)
	}
	selected := strings.Fields(os.Getenv("SWARM_TEST_AGENTS"))
	if len(selected) == 0 {
		selected = []string{"claude", "codex"}
	}
	for _, name := range selected {
		if !slices.ContainsFunc(clients, func(c client) bool { return c.name == name }) {
			t.Fatalf("SWARM_TEST_AGENTS names %q: it must be one of %s", name, strings.Join(namesOf(clients), ", "))
		}
	}
	return selected
}

func namesOf(clients []client) (names []string) {
	for _, c := range clients {
		names = append(names, c.name)
	}
	return names
}

// testAgentTurn sends a prompt, sees the agent work and be idle again, and finds the
// answer on its screen.
func testAgentTurn(t *testing.T, l *lab) {
	l.ready()
	hold := make(chan struct{})
	l.model.Script(modelserver.Turn{Text: "The answer is fortytwo.", Hold: hold})
	l.swarm("send", "w", "what is the answer")
	l.prompted("what is the answer")
	l.until("working")
	close(hold)
	l.until("idle")
	l.shows(`The answer is fortytwo\.`)
	l.once("what is the answer")
	l.killed()
}

// testAgentQuit ends the agent by its own command.
func testAgentQuit(t *testing.T, l *lab) {
	if l.client.quit == "" {
		t.Skip("it has no command that ends it")
	}
	l.ready()
	l.swarm("send", "w", l.client.quit)
	if r := l.try("", "wait", "w", "--timeout", agentWait.String()); r.code != 0 {
		t.Errorf("exit %d, want 0\n%s%s\n%s", r.code, r.out, r.err, l.peek())
	}
	if left := l.world.processes(func(p process) bool { return p.worker }); len(left) > 0 {
		t.Errorf("processes of the agent live on:\n%s", list(left))
	}
}

// testAgentTree kills the agent while a command that it started runs, which started
// another one away from its terminal.
func testAgentTree(t *testing.T, l *lab) {
	l.permits()
	l.ready()
	mark := filepath.Join(l.project, "started")
	l.model.Script(l.client.shell("setsid sleep 600 & touch " + mark + "; sleep 600"))
	l.swarm("send", "w", "run it")
	l.until("blocked")
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("the command ran before it was allowed")
	}
	l.swarm("answer", "w", l.client.allow)
	if !l.poll(func() bool { _, err := os.Stat(mark); return err == nil }) {
		t.Fatalf("the command never ran:\n%s", l.peek())
	}
	l.killed()
	if left := l.world.processes(func(p process) bool { return strings.HasPrefix(p.command, "sleep") }); len(left) > 0 {
		t.Errorf("the agent's commands live on:\n%s", list(left))
	}
}
