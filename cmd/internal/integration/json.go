package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
func (s Setup) hookLine(c *Client, event string) string {
	return fmt.Sprintf("%s hook %s %s || true", quoted(s.Swarm), c.Name, event)
}

func quoted(s string) string {
	if plain().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var (
	plain     = lazyregexp.New(`^[A-Za-z0-9_./+:@%-]+$`)
	hookOfOur = lazyregexp.New(`(?:^|/)swarm'? hook (\w+) \w+(?: \|\| true)?$`)
)

func isHook(command string, c *Client) bool {
	m := hookOfOur().FindStringSubmatch(command)
	return m != nil && m[1] == c.Name
}

func (s Setup) addHooks(d *jsonc.Document, c *Client, name string) error {
	for _, e := range c.events {
		want := hookCommand{Name: name, Type: "command", Command: s.hookLine(c, e.name), Timeout: c.timeout}
		root, err := parsed(d)
		if err != nil {
			return err
		}
		there, stale := 0, false
		if groups := root.At("hooks", e.name); groups != nil {
			for i := range groups.Elements {
				for _, h := range hooksIn(&groups.Elements[i]) {
					if isHook(h.Command, c) {
						there++
						stale = stale || h != want
					}
				}
			}
		}
		if there == 1 && !stale {
			continue
		}
		if there > 0 {
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

func removeHooks(d *jsonc.Document, c *Client, event string) error {
	shared := false
	err := d.RemoveElements(func(v *jsonc.Value) bool {
		hooks := hooksIn(v)
		ours := 0
		for _, h := range hooks {
			if isHook(h.Command, c) {
				ours++
			}
		}
		shared = shared || ours > 0 && ours < len(hooks)
		return ours > 0 && ours == len(hooks)
	}, "hooks", event)
	if err == nil && shared {
		err = fmt.Errorf("hooks.%s runs swarm together with other hooks: take it out by hand", event)
	}
	return err
}

func hooksIn(v *jsonc.Value) []hookCommand {
	var g hookGroup
	if v.Decode(&g) != nil {
		return nil
	}
	return g.Hooks
}

// removeAllHooks removes swarm's hooks of all events, of those of other versions, too.
func removeAllHooks(d *jsonc.Document, c *Client) error {
	root, err := parsed(d)
	if err != nil {
		return err
	}
	hooks := root.At("hooks")
	if hooks == nil {
		return nil
	}
	for _, m := range hooks.Members {
		if err := removeHooks(d, c, m.Key); err != nil {
			return err
		}
	}
	return nil
}

func parsed(d *jsonc.Document) (jsonc.Value, error) {
	if strings.TrimSpace(d.Text) == "" {
		return jsonc.Value{}, nil
	}
	return jsonc.Parse(d.Text)
}

type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

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

// addServer adds the MCP server to the table mcpServers. Arguments that a person added
// stay.
func (s Setup) addServer(d *jsonc.Document) error {
	root, err := parsed(d)
	if err != nil {
		return err
	}
	there := root.At("mcpServers", "swarm")
	if there == nil {
		return d.Set(server{s.Swarm, []string{"mcp"}}, "mcpServers", "swarm")
	}
	var is server
	if there.Decode(&is) != nil || !isSwarm(append([]string{is.Command}, is.Args...)) {
		return errForeign
	}
	if s.runsSwarm(is.Command) {
		return nil
	}
	return d.Set(s.Swarm, "mcpServers", "swarm", "command")
}

func removeServer(d *jsonc.Document) error {
	root, err := parsed(d)
	if err != nil {
		return err
	}
	var is server
	if there := root.At("mcpServers", "swarm"); there == nil || there.Decode(&is) != nil || !isSwarm(append([]string{is.Command}, is.Args...)) {
		return nil //nolint:nilerr // an entry of another form is not ours
	}
	return d.Remove("mcpServers", "swarm")
}

func (s Setup) skill(dir string) (Change, error) {
	return s.whole(filepath.Join(dir, "swarm", "SKILL.md"), s.Skill, func(text string) bool {
		return strings.HasPrefix(text, "---\nname: swarm\n")
	})
}
