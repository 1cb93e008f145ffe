package occupant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/proc"
)

// In returns the processes that have their working directory, their root,
// their program or an open file in dir, but for this plugin and its host.
// Processes of other users can't be looked into, and are left out.
func In(ctx context.Context, dir string) ([]proc.Process, error) {
	found, err := proc.Find(func(p proc.Process) bool {
		return ctx.Err() == nil && p.PID != os.Getpid() && p.PID != os.Getppid() && livesIn(fmt.Sprintf("/proc/%d", p.PID), dir)
	})
	return found, errors.Join(err, ctx.Err())
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
