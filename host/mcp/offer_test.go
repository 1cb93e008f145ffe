package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

// maxCost is what the tools that are offered by default may cost a model, in bytes. The two
// tools for callers who may answer questions of agents cost maxAnswers more.
const (
	maxCost    = 8 << 10
	maxAnswers = 860
)

// cost returns how much a client gives to a model of the tools, and their names.
func cost(t *testing.T, c *sdk.ClientSession) (size int, names []string) {
	t.Helper()
	for listed, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schema, err := json.Marshal(listed.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		size += len(listed.Name) + len(listed.Description) + len(schema)
		names = append(names, listed.Name)
	}
	return size, names
}

// The tools that are offered by default cost a model little.
func TestDefaultTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct {
		name, token string
		sets        []tool.Set
	}{
		{"a person", "", []tool.Set{tool.Shells, tool.Workers}},
		{"a stranger", "guess", []tool.Set{tool.Shells, tool.Workers}},
		{"an agent", aliceToken, tool.Sets()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			size, names := cost(t, w.serve(t, test.token, nil))
			t.Logf("%d tools, %d bytes", len(names), size)
			if size > maxCost {
				t.Errorf("%d bytes, want at most %d", size, maxCost)
			}
			for _, listed := range tool.All() {
				want := slices.Contains(test.sets, listed.Set) && (!listed.Leader || test.token != aliceToken) &&
					(test.token == "" || !slices.Contains(forAnswers, listed.Name))
				if slices.Contains(names, listed.Name) != want {
					t.Errorf("%s of the set %s is listed: %t", listed.Name, listed.Set, slices.Contains(names, listed.Name))
				}
			}
		})
	}
}

// The tools that are offered to a leader cost no more. Every other tool, and each omitted
// field, is there if someone asks for the set.
func TestDefaultToolsOfLeaders(t *testing.T) {
	t.Parallel()
	for name, caller := range map[string]agent.Membership{
		"an agent":               {Caller: team.Caller{Team: "web", Agent: "agent-aaaaaa", Role: registry.RoleLeader}},
		"an agent that made one": {Caller: team.Caller{Team: "web", Agent: "agent-aaaaaa", Role: registry.RoleWorker}, Leads: []string{"more"}},
		"a worker":               {Worker: "w", Leads: []string{"web"}},
		"a worker of two teams":  {Worker: "w", Leads: []string{"web", "more"}},
	} {
		// A leader who may answer is offered two tools more.
		may := &server{caller: caller, Options: Options{LeaderAnswers: true}}
		for _, listed := range tool.All() {
			if slices.Contains(forAnswers, listed.Name) && (!may.offers(listed) || (&server{caller: caller}).offers(listed)) {
				t.Errorf("%s: %s is offered to a leader who may not answer, or not to one who may", name, listed.Name)
			}
		}
		s, all := &server{caller: caller}, &server{caller: caller, Options: Options{Tools: tool.Sets()}}
		size, n := 0, 0
		for _, listed := range tool.All() {
			if !s.offers(listed) {
				if !all.offers(listed) {
					t.Errorf("%s: %s is never offered", name, listed.Name)
				}
				continue
			}
			described := s.describe(listed)
			schema, err := json.Marshal(described.InputSchema)
			if err != nil {
				t.Fatal(err)
			}
			size += len(described.Name) + len(described.Description) + len(schema)
			n++
		}
		t.Logf("%s: %d tools, %d bytes", name, n, size)
		if size > maxCost {
			t.Errorf("%s: %d bytes, want at most %d", name, size, maxCost)
		}
		for _, must := range []string{"Bash", "worker-wait", "worker-output", "spawn-agent", "kill-agent", "peek-agent", "nudge-agent", "read-messages", "task-create"} {
			if found, _ := tool.Find(must); !s.offers(found) {
				t.Errorf("%s: %s is not offered", name, must)
			}
		}
		for of, fields := range rare {
			found, _ := tool.Find(of)
			for _, field := range fields {
				if slices.Contains(found.Input().Required, field) || s.inputOf(found).Properties[field] != nil || all.inputOf(found).Properties[field] == nil {
					t.Errorf("%s: the field %s of %s", name, field, of)
				}
			}
		}
		spared, _ := tool.Find("spawn-team")
		if said := s.notOffered(spared); !strings.Contains(said, "swarm mcp --tools shells,workers,teams") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

func TestChosenTools(t *testing.T) {
	t.Parallel()
	c := newWorld(t).serve(t, aliceToken, []tool.Set{tool.Shells})
	if _, names := cost(t, c); slices.Contains(names, "task-list") || !slices.Contains(names, "Bash") {
		t.Errorf("tools: %q", names)
	}
	_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "task-list"})
	if err == nil || !strings.Contains(err.Error(), "swarm mcp --tools shells,teams") {
		t.Errorf("a tool that is not offered: %v", err)
	}
	_, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "task-lisp"})
	if err == nil || strings.Contains(err.Error(), "--tools") {
		t.Errorf("a tool that does not exist: %v", err)
	}
}

// The instructions say first who the client is, within what clients read of them.
func TestInstructions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for token, want := range map[string]string{
		"":         "You act for a person",
		aliceToken: "You are agent alice of team web (role worker).",
		"guess":    "swarm can't determine who you are (Unknown agent token)",
	} {
		got := w.serve(t, token, tool.Sets()).InitializeResult().Instructions
		if !strings.HasPrefix(got, want) || len(got) > maxInstructions {
			t.Errorf("for the token %q, %d bytes: %s", token, len(got), got)
		}
	}
}

// An agent need not name its team, and no text says that it must.
func TestOwnTeam(t *testing.T) {
	t.Parallel()
	c := newWorld(t).serve(t, aliceToken, nil)
	for listed, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schema := listed.InputSchema.(map[string]any)
		required, _ := schema["required"].([]any)
		if slices.Contains(required, any(teamField)) {
			t.Errorf("%s requires %v", listed.Name, required)
		}
	}
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "task-list"})
	if err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	text := r.Content[0].(*sdk.TextContent).Text
	if text != "tasks: none" {
		t.Errorf("text:\n%s", text)
	}
	_, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "kill-agent"})
	if err == nil || !strings.Contains(err.Error(), "only for the leader of the team") {
		t.Errorf("a tool of the leader: %v", err)
	}
}
