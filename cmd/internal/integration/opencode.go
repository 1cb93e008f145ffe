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

func (l localServer) argv() []string { return l.Command }

func (l localServer) of(program string) any { return append([]string{program}, l.Command[1:]...) }

func opencode(_ *Client, s Setup) ([]Change, error) {
	if s.AllowTools {
		return nil, errAsksNothing
	}
	dir, err := s.home("XDG_CONFIG_HOME", ".config")
	dir = filepath.Join(dir, "opencode")
	if own := s.Getenv("OPENCODE_CONFIG_DIR"); own != "" {
		dir, err = filepath.Abs(own)
	}
	if err != nil {
		return nil, err
	}
	command, err := json.Marshal(s.Swarm)
	if err != nil {
		return nil, err
	}
	text := strings.Replace(plugin, `"swarm"`, string(command), 1)
	var p plan
	p.add(s.edited(opencodeFile(dir),
		func(d *jsonc.Document) error {
			return addServer(s, d, "mcp", localServer{"local", []string{s.Swarm, "mcp"}, true})
		},
		func(d *jsonc.Document) error { return removeServer[localServer](d, "mcp") }))
	p.add(s.whole(filepath.Join(dir, "plugins", "swarm.js"), text, func(text string) bool { return strings.HasPrefix(text, pluginMark) }))
	p.add(s.skill(filepath.Join(dir, "skills")))
	return p.changes, p.err
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
