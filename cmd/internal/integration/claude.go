package integration

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
)

// home returns a directory of a client: the variable if it is set, else the one of that
// name in the user's home.
func (s Setup) home(variable, name string) (string, error) {
	if dir := s.Getenv(variable); dir != "" && variable != "" {
		return filepath.Abs(dir)
	}
	home := s.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("cannot find the files: HOME is not set")
	}
	return filepath.Join(home, name), nil
}

// ProgramError says that a client's own program is needed but was not found.
type ProgramError struct{ Program string }

func (e *ProgramError) Error() string {
	return "the command '" + e.Program + "' is not found, which keeps the list of MCP servers: put it on PATH"
}

// claude integrates into Claude Code. Its servers are in a file that every session of it
// writes, so its own command adds them.
func claude(c *Client, s Setup) ([]Change, error) {
	dir, err := s.home("CLAUDE_CONFIG_DIR", ".claude")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, ".claude.json")
	if s.Getenv("CLAUDE_CONFIG_DIR") == "" {
		file = filepath.Join(filepath.Dir(dir), ".claude.json")
	}
	var p plan
	p.changes, p.err = s.claudeServer(file)
	p.add(s.edited(filepath.Join(dir, "settings.json"),
		func(d *jsonc.Document) error { return cmp.Or(s.addHooks(d, c, ""), s.allowInSettings(d, c)) },
		func(d *jsonc.Document) error { return cmp.Or(removeAllHooks(d, c), s.disallowInSettings(d, c)) }))
	p.add(s.skill(filepath.Join(dir, "skills")))
	return p.changes, p.err
}

// claudeServer returns the commands that add or remove the server. It only reads the file.
func (s Setup) claudeServer(file string) (changes []Change, err error) {
	is, err := readServer(file)
	if err != nil || is == nil && s.Remove {
		return nil, err
	}
	args := []string{"mcp"}
	if is != nil {
		switch ours := isSwarm(is.argv()); {
		case !ours && s.Remove:
			return nil, nil
		case !ours:
			return nil, fmt.Errorf("%s: %w", file, errForeign)
		case s.runsSwarm(is.Command) && !s.Remove:
			return nil, nil
		}
		args = is.Args
		changes = []Change{{Command: []string{claudeProgram, "mcp", "remove", "--scope", "user", "swarm"}}}
	}
	if !s.Remove {
		add := []string{claudeProgram, "mcp", "add", "--scope", "user", "swarm", "--", s.Swarm}
		changes = append(changes, Change{Command: append(add, args...)})
	}
	if _, err := exec.LookPath(claudeProgram); err != nil {
		return nil, &ProgramError{claudeProgram}
	}
	return changes, nil
}

const claudeProgram = "claude"

// readServer returns the server named swarm in a file, or nil if the file has no such
// server.
func readServer(file string) (*server, error) {
	c, err := readChange(file)
	if err != nil {
		return nil, err
	}
	there, err := valueAt(c.Before, "mcpServers", "swarm")
	if err != nil {
		return nil, fmt.Errorf("%s:%w", c.Path, err)
	}
	if there == nil {
		return nil, nil
	}
	is := &server{}
	_ = there.Decode(is) // another kind of server has no command
	return is, nil
}
