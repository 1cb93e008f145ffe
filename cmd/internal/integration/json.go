package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// errForeign says that the server named swarm is another program.
var errForeign = errors.New("an MCP server named 'swarm' is configured that is another program: rename or remove it first")

type hookGroup struct {
	Hooks []hookCommand `json:"hooks"`
}

type hookCommand struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

// hookLine is the command of a hook. The agent continues even if swarm fails.
func (s Setup) hookLine(c *Client, event string, answers bool) string {
	flag := ""
	if answers {
		flag = answersFlag
	}
	return fmt.Sprintf("%s hook %s %s%s || true", quoted(s.Swarm), c.Name, event, flag)
}

// answersFlag is the part of a hook's command that has it wait for an answer.
const answersFlag = " --answers"

func quoted(s string) string {
	if plain().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var (
	plain     = lazyregexp.New(`^[A-Za-z0-9_./+:@%-]+$`)
	hookOfOur = lazyregexp.New(`(?:^|/)swarm'? hook (\w+) \w+(?: --answers)?(?: \|\| true)?$`)
)

func (s Setup) addHooks(d *jsonc.Document, c *Client, name string) error {
	for _, e := range c.events {
		groups, err := valueAt(d.Text, "hooks", e.name)
		if err != nil {
			return err
		}
		var there []hookCommand
		if groups != nil {
			for _, group := range groups.Elements {
				ours, _ := hooksIn(&group, c)
				there = append(there, ours...)
			}
		}
		want := hookCommand{Name: name, Type: "command", Command: s.hookLine(c, e.name, false), Timeout: c.timeout}
		if e.kind == asks && c.answers > 0 && s.waits(there) {
			want.Command, want.Timeout = s.hookLine(c, e.name, true), c.answers
		}
		if len(there) == 1 && there[0] == want {
			continue
		}
		if len(there) > 0 {
			if err := removeHooks(d, c, e.name); err != nil {
				return err
			}
		}
		if err := d.Append(hookGroup{[]hookCommand{want}}, "hooks", e.name); err != nil {
			return err
		}
	}
	return nil
}

// waits reports whether the hook of a question is to wait for an answer.
func (s Setup) waits(there []hookCommand) bool {
	if s.Answers != nil {
		return *s.Answers
	}
	return slices.ContainsFunc(there, func(h hookCommand) bool { return strings.Contains(h.Command, answersFlag) })
}

func removeHooks(d *jsonc.Document, c *Client, event string) error {
	shared := false
	err := d.RemoveElements(func(v *jsonc.Value) bool {
		ours, others := hooksIn(v, c)
		shared = shared || len(ours) > 0 && others
		return len(ours) > 0 && !others
	}, "hooks", event)
	if err == nil && shared {
		err = fmt.Errorf("hooks.%s runs swarm together with other hooks: take it out by hand", event)
	}
	return err
}

// hooksIn returns swarm's hooks in a group, and whether the group has other hooks.
func hooksIn(v *jsonc.Value, c *Client) (ours []hookCommand, others bool) {
	var g hookGroup
	if v.Decode(&g) != nil {
		return nil, false
	}
	for _, h := range g.Hooks {
		if m := hookOfOur().FindStringSubmatch(h.Command); m != nil && m[1] == c.Name {
			ours = append(ours, h)
		} else {
			others = true
		}
	}
	return ours, others
}

// removeAllHooks removes swarm's hooks of all events, of those of other versions, too.
func removeAllHooks(d *jsonc.Document, c *Client) error {
	hooks, err := valueAt(d.Text, "hooks")
	if err != nil || hooks == nil {
		return err
	}
	for _, m := range hooks.Members {
		if err := removeHooks(d, c, m.Key); err != nil {
			return err
		}
	}
	return nil
}

// valueAt returns the value at a path of keys in a text, or nil if it has no such path.
func valueAt(text string, path ...string) (*jsonc.Value, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	root, err := jsonc.Parse(text)
	return root.At(path...), err
}

// entry is what a client's list says about an MCP server.
type entry interface {
	argv() []string
	// of returns the entry's command for another program; arguments that a person added stay.
	of(program string) any
}

type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (s server) argv() []string { return append([]string{s.Command}, s.Args...) }

func (s server) of(program string) any { return program }

func isSwarm(command []string) bool {
	return len(command) > 1 && filepath.Base(command[0]) == "swarm" && command[1] == "mcp"
}

// runsSwarm reports whether a command is the very program that s integrates.
func (s Setup) runsSwarm(command string) bool {
	if command == s.Swarm {
		return true
	}
	path, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(s.Swarm)
	return err == nil && os.SameFile(a, b)
}

// addServer adds the MCP server to a list.
func addServer[E entry](s Setup, d *jsonc.Document, list string, added E) error {
	there, err := valueAt(d.Text, list, "swarm")
	if err != nil {
		return err
	}
	if there == nil {
		return d.Set(added, list, "swarm")
	}
	var is E
	if there.Decode(&is) != nil || !isSwarm(is.argv()) {
		return errForeign
	}
	if s.runsSwarm(is.argv()[0]) {
		return nil
	}
	return d.Set(is.of(s.Swarm), list, "swarm", "command")
}

func removeServer[E entry](d *jsonc.Document, list string) error {
	there, err := valueAt(d.Text, list, "swarm")
	if err != nil || there == nil {
		return err
	}
	var is E
	if there.Decode(&is) != nil || !isSwarm(is.argv()) {
		return nil //nolint:nilerr // an entry of another form is not ours
	}
	return d.Remove(list, "swarm")
}

func (s Setup) skill(dir string) (Change, error) {
	return s.whole(filepath.Join(dir, "swarm", "SKILL.md"), s.Skill, func(text string) bool {
		return strings.HasPrefix(text, "---\nname: swarm\n")
	})
}
