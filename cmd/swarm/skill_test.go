package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/integrate"
	"github.com/swarmhost/swarm/host/tool"
)

// TestSkill: the skill has the form that clients read, and all that this version can do.
func TestSkill(t *testing.T) {
	t.Parallel()
	a := &app.App{}
	root := newRoot(a)
	text, err := integrate.Skill(root)
	if err != nil {
		t.Fatal(err)
	}
	// https://agentskills.io/specification: a name of lower-case letters, digits and
	// hyphens, and a description of at most 1,024 characters.
	front := regexp.MustCompile(`(?s)^---\nname: ([a-z0-9-]{1,64})\ndescription: >-\n((?:  [^\n]+\n)+)---\n`).FindStringSubmatch(text)
	if front == nil || front[1] != "swarm" || len(front[2]) > 1024 {
		t.Fatalf("the front matter: %q", text[:min(len(text), 600)])
	}
	for _, v := range verbs() {
		cmd := v.make(a)
		if shown := strings.Contains(text, "\n- `swarm "+v.name); shown != cmd.IsAvailableCommand() {
			t.Errorf("command '%s': shown %v, hidden %v", v.name, shown, cmd.Hidden)
		}
	}
	for _, tool := range tool.All() {
		if !strings.Contains(text, "\n- `"+tool.Name+"`: ") {
			t.Errorf("no tool '%s'", tool.Name)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 500 || len(text) > 20<<10 {
		t.Errorf("it has %d lines and %d bytes", lines, len(text))
	}
	for _, wrong := range []string{"{{", "<no value>", "\n\n\n", "[flags] [flags]"} {
		if strings.Contains(text, wrong) {
			t.Errorf("it has %q", wrong)
		}
	}
	// Each command that it has agents run exists.
	for _, command := range regexp.MustCompile("`swarm ([a-z ]+)").FindAllStringSubmatch(text, -1) {
		words := strings.Fields(command[1])
		cmd, _, err := root.Find(words)
		if err != nil || cmd == root {
			t.Errorf("there is no 'swarm %s'", command[1])
		}
	}
}
