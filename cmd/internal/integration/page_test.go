package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/profile"
)

// reported returns the state that an event of a kind reports; empty: it reports none by itself.
func reported(k kind) profile.State {
	switch k {
	case prompts, usesTool, usedTool, compacted:
		return profile.Working
	case asks:
		return profile.Blocked
	case stops, interrupted:
		return profile.Idle
	case fails:
		return profile.Broken
	case compacts:
		return profile.Compacting
	default:
		return ""
	}
}

// statesTable is the table of states × clients.
func statesTable(t *testing.T) string {
	t.Helper()
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	clients := Clients()
	var b strings.Builder
	b.WriteString("| state |")
	for _, c := range clients {
		fmt.Fprintf(&b, " %s |", c.Title)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(clients)) + "\n")
	for _, s := range profile.States() {
		if s == profile.Unknown {
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", s)
		for _, c := range clients {
			var says []string
			for _, rule := range set.Named(c.Name).RulesOf(s) {
				says = append(says, "`"+rule+"`")
			}
			for _, e := range c.events {
				state := reported(e.kind)
				also := e.kind == stops && s == profile.Background && c.Name == "claude" || e.kind == fails && s == profile.Limited ||
					e.kind == notifies && (s == profile.Blocked || s == profile.Idle && c.Name != "gemini")
				if state == s || also {
					says = append(says, "*"+e.name+"*")
				}
			}
			if says == nil {
				says = []string{"–"}
			}
			fmt.Fprintf(&b, " %s |", strings.Join(says, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestPage checks that docs/agents.md has the table of states. UPDATE_DOCS=1 writes it there.
func TestPage(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/agents.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- states: made of the profiles and the hooks, see cmd/internal/integration/page_test.go -->\n", "<!-- end of states -->\n"
	head, rest, ok := strings.Cut(string(b), begin)
	old, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table of states", page)
	}
	table := statesTable(t)
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(page, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table, old); diff != "" {
		t.Errorf("%s is not current: run .ci/generate (-want +got):\n%s", page, diff)
	}
}

// TestReported holds the table to what hooks report.
func TestReported(t *testing.T) {
	t.Parallel()
	for _, c := range Clients() {
		for _, e := range c.events {
			h, err := c.ReadHook(e.name, []byte(`{"session_id":"s","tool_name":"x"}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := profile.State(h.Event.State); got != reported(e.kind) {
				t.Errorf("%s %s reports %q, and the table says %q", c.Name, e.name, got, reported(e.kind))
			}
		}
	}
}
