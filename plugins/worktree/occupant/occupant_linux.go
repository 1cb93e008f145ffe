package occupant

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// In returns the processes that have their working directory, their root,
// their program or an open file in dir, but for this plugin and its host.
// Processes of other users can't be looked into, and are left out.
func In(ctx context.Context, dir string) ([]swarm.Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []swarm.Process
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || pid == os.Getppid() {
			continue
		}
		proc := filepath.Join("/proc", e.Name())
		if !livesIn(proc, dir) {
			continue
		}
		name, err := os.ReadFile(filepath.Join(proc, "comm"))
		if err != nil {
			// It ended in the meantime.
			continue
		}
		found = append(found, swarm.Process{PID: pid, Name: strings.TrimSpace(string(name))})
	}
	return found, nil
}

func livesIn(proc, dir string) bool {
	links := []string{"cwd", "root", "exe"}
	files, _ := os.ReadDir(filepath.Join(proc, "fd"))
	for _, f := range files {
		links = append(links, filepath.Join("fd", f.Name()))
	}
	return slices.ContainsFunc(links, func(link string) bool {
		at, err := os.Readlink(filepath.Join(proc, link))
		return err == nil && below(at, dir)
	})
}

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}
