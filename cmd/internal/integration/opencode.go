package integration

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
)

// plugin calls the hooks: opencode only has hooks of plugins.
//
//go:embed opencode.js
var plugin string

// pluginMark is the first line of the plugin.
const pluginMark = "// Written by 'swarm integrate opencode'"

type localServer struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
}

func opencode(s Setup) ([]Change, error) {
	dir, err := s.home("OPENCODE_CONFIG_DIR", "")
	if s.Getenv("OPENCODE_CONFIG_DIR") == "" {
		if dir, err = s.home("XDG_CONFIG_HOME", ".config"); err == nil {
			dir = filepath.Join(dir, "opencode")
		}
	}
	if err != nil {
		return nil, err
	}
	file, err := s.edited(opencodeFile(dir), s.addLocal, removeLocal)
	if err != nil {
		return nil, err
	}
	command, err := json.Marshal(s.Swarm)
	if err != nil {
		return nil, err
	}
	text := strings.Replace(plugin, `"swarm"`, string(command), 1)
	js, err := s.whole(filepath.Join(dir, "plugins", "swarm.js"), text, func(text string) bool { return strings.HasPrefix(text, pluginMark) })
	if err != nil {
		return nil, err
	}
	skill, err := s.skill(filepath.Join(dir, "skills"))
	return []Change{file, js, skill}, err
}

// opencodeFile returns the config file of a directory: opencode reads all of these.
func opencodeFile(dir string) string {
	for _, name := range []string{"opencode.jsonc", "opencode.json", "config.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return filepath.Join(dir, "opencode.json")
}

func (s Setup) addLocal(d *jsonc.Document) error {
	root, err := parsed(d)
	if err != nil {
		return err
	}
	there := root.At("mcp", "swarm")
	if there == nil {
		return d.Set(localServer{"local", []string{s.Swarm, "mcp"}, true}, "mcp", "swarm")
	}
	var is localServer
	if there.Decode(&is) != nil || !isSwarm(is.Command) {
		return errForeign
	}
	if s.runsSwarm(is.Command[0]) {
		return nil
	}
	return d.Set(append([]string{s.Swarm}, is.Command[1:]...), "mcp", "swarm", "command")
}

func removeLocal(d *jsonc.Document) error {
	root, err := parsed(d)
	if err != nil {
		return err
	}
	var is localServer
	if there := root.At("mcp", "swarm"); there == nil || there.Decode(&is) != nil || !isSwarm(is.Command) {
		return nil //nolint:nilerr // an entry of another form is not ours
	}
	return d.Remove("mcp", "swarm")
}
