// Package members finds the processes of a container that this machine shows: those in a control group whose path holds
// the id of the container.
//
// Only plugins/container and the packages below it import it.
package members

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/proc"
)

// ErrNotHere says that this machine does not show the processes of a container.
var ErrNotHere = errors.New("the processes of the container can't be seen from here")

// Of returns the processes of a container whose init has the pid. Each was in a
// control group of the container's when it was looked at, so it is the container's.
func Of(init int, container string) ([]int, error) {
	if init <= 0 {
		return nil, ErrNotHere
	}
	for _, g := range groupsOf(init) {
		if !strings.Contains(g.path, container) {
			continue
		}
		for _, mount := range g.mounts() {
			if pids := pidsBelow(filepath.Join(mount, g.path)); len(pids) > 0 {
				return pids, nil
			}
		}
	}
	if !Is(init, container) {
		return nil, ErrNotHere
	}
	found, err := proc.Find(func(p proc.Process) bool { return Is(p.PID, container) })
	if err != nil {
		return nil, err
	}
	pids := make([]int, len(found))
	for i, p := range found {
		pids[i] = p.PID
	}
	return pids, nil
}

// Is reports whether a process is in a control group that has the container's id.
func Is(pid int, container string) bool {
	return slices.ContainsFunc(groupsOf(pid), func(g group) bool { return strings.Contains(g.path, container) })
}

type group struct {
	controllers string // empty: version 2
	path        string
}

func (g group) mounts() []string {
	const root = "/sys/fs/cgroup"
	if g.controllers == "" {
		return []string{root, filepath.Join(root, "unified")}
	}
	return []string{filepath.Join(root, strings.TrimPrefix(g.controllers, "name="))}
}

// groupsOf returns the control groups of a process, none if they can't be read.
func groupsOf(pid int) []group {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return nil
	}
	var groups []group
	for line := range strings.Lines(string(data)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3); len(parts) == 3 {
			groups = append(groups, group{controllers: parts[1], path: parts[2]})
		}
	}
	return groups
}

// pidsBelow returns the processes in a directory of control groups and below it.
func pidsBelow(dir string) []int {
	var pids []int
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // a group may be removed meanwhile
		}
		data, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		for field := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// NameOf returns the name of a process, empty if it has gone.
func NameOf(pid int) string {
	p, _ := proc.Read(pid) // without a name if it has gone
	return p.Name
}
