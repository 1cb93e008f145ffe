//go:build agents

package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// mate is the model of one agent of a team. It does nothing by itself: it reacts to the
// line by which swarm notifies the agent that something waits.
type mate struct {
	name   string
	client client
	// tasks are those that are for it, in the order in which it claims them.
	tasks []string
	// work returns the turn that does a task.
	work func(task string) modelserver.Turn
	// refusals are the reasons for which it refuses to shut down, one for each request.
	refusals []string

	mu      sync.Mutex
	seen    int // the lines of swarm that it has seen
	results int // the answers of tools that it has seen
	called  string
	plan    []modelserver.Turn
	lines   []string
}

// answer is the model's next turn.
func (m *mate) answer(r modelserver.Request) modelserver.Turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(r.Results) > m.results {
		m.results = len(r.Results)
		m.got(r.Results[m.results-1])
	}
	var lines []string
	for _, text := range r.User {
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "swarm: ") {
			lines = append(lines, text)
		}
	}
	for _, line := range lines[min(m.seen, len(lines)):] {
		m.heed(line)
	}
	m.seen, m.lines = max(m.seen, len(lines)), lines
	if len(m.plan) == 0 {
		m.called = ""
		return modelserver.Turn{Text: "There is nothing more to do."}
	}
	turn := m.plan[0]
	m.plan = m.plan[1:]
	m.called = strings.ReplaceAll(turn.Tool, "_", "-")
	return turn
}

// heed plans what a line of swarm asks for.
func (m *mate) heed(line string) {
	if strings.Contains(line, "message") {
		m.call("read-messages", nil)
	}
	if strings.Contains(line, "shut down") {
		if len(m.refusals) > 0 {
			m.call("respond-shutdown", map[string]any{"approve": false, "reason": m.refusals[0]})
			m.refusals = m.refusals[1:]
		} else {
			m.call("respond-shutdown", map[string]any{"approve": true})
		}
	}
	if strings.Contains(line, "task") && len(m.tasks) > 0 {
		m.call("task-claim", map[string]any{"taskId": m.tasks[0]})
	}
}

// got plans what follows from the answer of a tool.
func (m *mate) got(answer string) {
	if !strings.HasSuffix(m.called, "task-claim") || strings.Contains(answer, "not available") {
		return
	}
	task := m.tasks[0]
	m.tasks = m.tasks[1:]
	m.plan = append(m.plan, m.work(task))
	m.call("task-update", map[string]any{"taskId": task, "status": "completed"})
}

func (m *mate) call(tool string, input map[string]any) {
	m.plan = append(m.plan, m.client.tool(tool, input))
}

// typedLines returns the lines that swarm typed to the agent.
func (m *mate) typedLines() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lines
}

// TestAgentsTeam has three real agents of two vendors work through six tasks. No one polls
// and no one presses a key, but to allow what one of them asks for. One refuses to shut down
// first.
func TestAgentsTeam(t *testing.T) {
	selected := selectedAgents(t)
	if !slices.Contains(selected, "claude") || !slices.Contains(selected, "codex") {
		t.Skip("the team needs claude and codex")
	}
	byName := map[string]client{}
	for _, c := range clients {
		byName[c.name] = c
	}
	l := newLab(t, byName["claude"])
	defer l.end()
	l.connect()
	other := *l
	other.client = byName["codex"]
	mates := []*mate{
		{name: "ann", client: byName["claude"], tasks: []string{"task-1", "task-4"}},
		{name: "bob", client: byName["claude"], tasks: []string{"task-2", "task-5"}},
		{name: "cy", client: byName["codex"], tasks: []string{"task-3", "task-6"}, refusals: []string{"I would like to see the result"}},
	}
	done := func(task string) string { return filepath.Join(l.project, task+".done") }
	l.swarm("team", "create", "crew")
	for _, m := range mates {
		m.work = func(task string) modelserver.Turn {
			if task == "task-1" {
				return m.client.shell("touch " + done(task))
			}
			return m.client.tool("Bash", map[string]any{"command": "touch " + done(task), "description": "Do " + task})
		}
		model := modelserver.Start()
		t.Cleanup(model.Close)
		model.Answer(m.answer)
		own := l
		if m.client.name == "codex" {
			other.model = model
			other.client.configure(&other, true)
			other.connect()
			own = &other
		}
		args := []string{"agent", "spawn", "--team", "crew", "--name", m.name}
		for _, kv := range m.client.env(model.URL) {
			args = append(args, "--env", kv)
		}
		own.swarm(append(append(args, "--"), m.client.command...)...)
	}
	for i, task := range []struct {
		who   string
		needs []int
	}{{"ann", nil}, {"bob", nil}, {"cy", []int{1, 2}}, {"ann", []int{3}}, {"bob", []int{3}}, {"cy", []int{4, 5}}} {
		args := []string{"task", "create", fmt.Sprintf("step %d", i+1), "--team", "crew", "--for", task.who}
		for _, n := range task.needs {
			args = append(args, "--depends-on", fmt.Sprintf("task-%d", n))
		}
		l.swarm(args...)
	}

	// ann is blocked, which shows.
	l.untilOf("crew-ann", "blocked")
	for _, args := range [][]string{{"ls"}, {"status", "crew-ann"}, {"agent", "ls", "--team", "crew"}} {
		out := l.swarm(args...)
		t.Log(out)
		if !strings.Contains(out, "blocked") && !strings.Contains(out, "asks: ") {
			t.Errorf("swarm %s does not say that ann is blocked", strings.Join(args, " "))
		}
	}
	t.Log(l.swarm("answer", "crew-ann", "1"))

	var list struct {
		Tasks []struct{ ID, Status, Owner string }
	}
	finished := l.poll(func() bool {
		if err := json.Unmarshal([]byte(l.swarm("task", "ls", "--team", "crew", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, task := range list.Tasks {
			if task.Status == "completed" {
				n++
			}
		}
		return n == 6
	})
	for _, m := range mates {
		t.Logf("%s was notified:\n  %s", m.name, strings.Join(m.typedLines(), "\n  "))
	}
	if !finished {
		for _, m := range mates {
			t.Log(l.try("", "explain", "crew-"+m.name).out)
		}
		t.Fatalf("the tasks were not done:\n%s\n%s", l.swarm("task", "ls", "--team", "crew"), l.try("", "doctor").out)
	}
	t.Log(l.swarm("task", "ls", "--team", "crew"))

	// cy refuses, then agrees; the others agree at once.
	l.untilOf("crew-cy", "idle")
	if r := l.try("", "agent", "kill", "cy", "--team", "crew", "--wait"); r.code != 1 || !strings.Contains(r.err, "rejected") || !strings.Contains(r.err, "I would like to see the result") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, name := range []string{"cy", "ann", "bob"} {
		if r := l.try("", "agent", "kill", name, "--team", "crew", "--wait"); r.code != 0 || !strings.Contains(r.out, "killed "+name) {
			t.Fatalf("agent kill %s --wait: exit %d\n%s%s\n%s", name, r.code, r.out, r.err, l.try("", "logs", "--plain", "crew-"+name).out)
		}
	}
	t.Log(l.swarm("events"))
	if out := l.swarm("team", "delete", "crew"); !strings.Contains(out, "deleted team crew") {
		t.Error(out)
	}
}
