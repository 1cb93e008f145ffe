package integration

import (
	"path/filepath"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
)

// gemini integrates into Gemini CLI. Its own command would write a part of the file that
// is edited here anyway, and takes seconds.
func gemini(s Setup) ([]Change, error) { return s.settings(Named("gemini"), "", ".gemini") }

// qwen integrates into Qwen Code, whose file is like that of Gemini CLI.
func qwen(s Setup) ([]Change, error) { return s.settings(Named("qwen"), "", ".qwen") }

// settings integrates into a client that has all in one file, settings.json.
func (s Setup) settings(c *Client, variable, name string) ([]Change, error) {
	dir, err := s.home(variable, name)
	if err != nil {
		return nil, err
	}
	file, err := s.edited(filepath.Join(dir, "settings.json"),
		func(d *jsonc.Document) error {
			if err := s.addServer(d); err != nil {
				return err
			}
			return s.addHooks(d, c, "swarm")
		},
		func(d *jsonc.Document) error {
			if err := removeServer(d); err != nil {
				return err
			}
			return removeAllHooks(d, c)
		})
	if err != nil {
		return nil, err
	}
	skill, err := s.skill(filepath.Join(dir, "skills"))
	return []Change{file, skill}, err
}
