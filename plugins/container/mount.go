package container

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/mount"

	"github.com/swarmhost/swarm/shared/swarm"
)

// parseMount reads SRC[:DST][:ro]. Without DST it is the same path in the container.
func parseMount(text string) (mount.Mount, error) {
	m := mount.Mount{Type: mount.TypeBind}
	parts := strings.Split(text, ":")
	if last := len(parts) - 1; last > 0 && (parts[last] == "ro" || parts[last] == "rw") {
		m.ReadOnly = parts[last] == "ro"
		parts = parts[:last]
	}
	m.Source, m.Target = parts[0], parts[len(parts)-1]
	switch {
	case len(parts) > 2:
		return m, fmt.Errorf("'%s' is not SRC[:DST][:ro]", text)
	case !filepath.IsAbs(m.Source) || !filepath.IsAbs(m.Target):
		return m, fmt.Errorf("'%s': both paths of a mount are absolute", text)
	}
	m.Source, m.Target = filepath.Clean(m.Source), filepath.Clean(m.Target)
	return m, nil
}

// mounts returns what of this machine a worker has: its workspace, if it has one, and what
// the settings and the options name. The sources exist.
//
// The file .git of a worktree says which repository it belongs to. It can only be read: a worker
// that exchanges it has git outside of the container read a configuration of the worker's.
func (c Config) mounts(workspace string) ([]mount.Mount, error) {
	var all []mount.Mount
	if workspace != "" {
		all = append(all, mount.Mount{Type: mount.TypeBind, Source: workspace, Target: workspace})
	}
	for _, text := range c.Mounts {
		m, err := parseMount(text)
		if err == nil {
			_, err = os.Stat(m.Source)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: mount: %w", swarm.ErrInvalidSpec, err)
		}
		all = append(all, m)
	}
	if workspace == "" {
		return all, nil
	}
	dotGit := filepath.Join(workspace, ".git")
	info, err := os.Lstat(dotGit)
	named := slices.ContainsFunc(all, func(m mount.Mount) bool { return m.Target == dotGit })
	if err == nil && info.Mode().IsRegular() && !named {
		all = slices.Insert(all, 1, mount.Mount{Type: mount.TypeBind, Source: dotGit, Target: dotGit, ReadOnly: true})
	}
	return all, nil
}

// workdir returns the working directory: the directory of this machine that the worker was
// spawned in if it has that, else the one of the settings.
func (c Config) workdir(dir string, mounts []mount.Mount) string {
	for _, m := range mounts {
		if rel, err := filepath.Rel(m.Source, dir); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(m.Target, rel)
		}
	}
	return c.Workdir
}
