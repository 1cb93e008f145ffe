//go:build agents

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// dayLimit is how many commands a person may need for the day of TestAgentsDay.
const dayLimit = 30

// openQuestion is an element of the output of swarm questions --json.
type openQuestion struct {
	Name     string
	Worker   string
	Question string
	Command  *string
	Dialog   *struct{ Digest string }
	Choices  []struct{ Key, Label, Kind string }
}

// person counts the commands that a person types.
type person struct {
	*lab
	typed []string
}

func (p *person) types(args ...string) string {
	p.t.Helper()
	p.typed = append(p.typed, "swarm "+strings.Join(args, " "))
	return p.swarm(args...)
}

// TestAgentsDay has agents of three vendors, each in a worktree of its own and in the mode in which it
// asks, do a task each. A person sees what they ask in the output of one swarm questions --watch and
// answers from there alone: the person attaches to no agent and polls nothing. The leader, which is the
// person here, has a message of each block.
func TestAgentsDay(t *testing.T) {
	selectedAgents(t)
	names := []string{"claude", "codex", "gemini"}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(os.Getenv(envAgents), name)); err != nil {
			t.Fatal(err)
		}
	}
	labs := map[string]*lab{}
	var first *lab
	for _, c := range clients {
		if !slices.Contains(names, c.name) {
			continue
		}
		if first == nil {
			first = newLab(t, c)
			defer first.end()
			labs[c.name] = first
			continue
		}
		own := *first
		own.client = c
		labs[c.name] = &own
	}
	p := &person{lab: first}
	p.git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "begin")

	var mates []*mate
	for i, name := range names {
		c := labs[name].client
		m := &mate{name: c.name, client: c, tasks: []string{fmt.Sprintf("task-%d", i+1)}}
		m.work = func(task string) modelserver.Turn { return c.shell("touch " + task + ".done") }
		model := modelserver.Start()
		t.Cleanup(model.Close)
		model.Answer(m.answer)
		labs[name].model = model
		// The project itself is trusted, a worktree of it is not.
		c.configure(labs[name], true)
		p.types("integrate", name, "--allow-tools")
		mates = append(mates, m)
	}

	questions, stop := p.watchQuestions()
	defer stop()
	p.types("team", "create", "crew")
	for _, m := range mates {
		args := []string{"agent", "spawn", "--team", "crew", "--name", m.name, "--worktree"}
		for _, kv := range m.client.env(labs[m.name].model.URL) {
			args = append(args, "--env", kv)
		}
		p.types(append(append(args, "--"), m.client.command...)...)
		p.types("task", "create", "build the part of "+m.name, "--team", "crew", "--for", m.name)
	}

	blocks := map[string]int{}
	answered := map[string]bool{}
	work := func() bool {
		select {
		case open := <-questions:
			for _, q := range open {
				if q.Dialog == nil || answered[q.Dialog.Digest] || len(p.typed) > 2*dayLimit {
					continue
				}
				answered[q.Dialog.Digest] = true
				// A person takes longer to answer than swarm takes to record the question.
				p.poll(func() bool { return strings.Contains(p.swarm("events", "--worker", q.Name), q.Dialog.Digest) })
				blocks[q.Name]++
				// An agent that has just started may draw its question anew meanwhile, which is another one.
				answer := []string{"answer", q.Name, p.choose(q), "--digest", q.Dialog.Digest}
				p.typed = append(p.typed, "swarm "+strings.Join(answer, " "))
				if r := p.try("", answer...); r.code != 0 && !strings.Contains(r.err, "asks something else now") {
					t.Fatalf("%s: %s", answer, r.err)
				}
			}
		default:
		}
		return !strings.Contains(p.swarm("task", "ls", "--team", "crew", "--json"), `"pending"`) &&
			!strings.Contains(p.swarm("task", "ls", "--team", "crew", "--json"), `"in_progress"`)
	}
	// Each of them has as long as it would have alone.
	finished := false
	for range mates {
		finished = finished || p.poll(work)
	}
	if !finished {
		for _, m := range mates {
			t.Log(p.try("", "explain", "crew-"+m.name).out)
			t.Log(p.try("", "peek", "crew-"+m.name).out)
		}
		t.Fatalf("the tasks were not done:\n%s\n%s", p.swarm("task", "ls", "--team", "crew"), strings.Join(p.typed, "\n"))
	}
	for i, m := range mates {
		dir := p.worktree("crew-" + m.name)
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("task-%d.done", i+1))); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if blocks["crew-"+m.name] == 0 {
			t.Errorf("%s has asked nothing", m.name)
		}
	}
	inbox := p.types("inbox", "read", "--team", "crew")
	for _, m := range mates {
		asks := regexp.MustCompile(`(?m)^  Agent ` + m.name + ` \(agent-[a-z0-9]+\) asks, `)
		if n := len(asks.FindAllString(inbox, -1)); n != blocks["crew-"+m.name] {
			t.Errorf("the leader has %d messages of %d blocks of %s", n, blocks["crew-"+m.name], m.name)
		}
	}
	for _, m := range mates {
		p.types("agent", "kill", m.name, "--team", "crew", "--wait")
	}
	p.types("team", "delete", "crew")
	t.Logf("%d commands:\n%s\n%s", len(p.typed), strings.Join(p.typed, "\n"), inbox)
	if len(p.typed) > dayLimit {
		t.Errorf("%d commands of a person, want at most %d", len(p.typed), dayLimit)
	}
}

// choose returns the choice with which a person allows what an agent asks.
func (p *person) choose(q openQuestion) string {
	for _, label := range []string{"Yes, I trust", "Trust folder", "Trust all", "Yes, continue"} {
		for _, c := range q.Choices {
			if strings.HasPrefix(c.Label, label) {
				return c.Key
			}
		}
	}
	return q.Choices[0].Key
}

// watchQuestions starts swarm questions --watch and returns what it prints, and a function that
// ends it.
func (p *person) watchQuestions() (printed <-chan []openQuestion, stop func()) {
	p.t.Helper()
	p.typed = append(p.typed, "swarm questions --watch")
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(bin, "swarm"), "questions", "--watch", "--json")
	cmd.Env, cmd.Dir = p.world.env, p.project
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lists := make(chan []openQuestion, 1000)
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var open []openQuestion
			if err := json.Unmarshal(lines.Bytes(), &open); err == nil {
				lists <- open
			}
		}
	}()
	return lists, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-read
		_ = cmd.Wait()
	}
}

func (p *person) worktree(worker string) string {
	p.t.Helper()
	var status struct{ Cwd string }
	if err := json.Unmarshal([]byte(p.swarm("status", worker, "--json")), &status); err != nil {
		p.t.Fatal(err)
	}
	return status.Cwd
}

func (p *person) git(args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", args...)
	cmd.Env, cmd.Dir = p.world.env, p.project
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
