package occupant

import (
	"context"
	"os"
	"path/filepath"
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
	for _, link := range []string{"cwd", "root", "exe"} {
		if at, err := os.Readlink(filepath.Join(proc, link)); err == nil && below(at, dir) {
			return true
		}
	}
	fds := filepath.Join(proc, "fd")
	entries, err := os.ReadDir(fds)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if at, err := os.Readlink(filepath.Join(fds, e.Name())); err == nil && below(at, dir) {
			return true
		}
	}
	return false
}

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}
