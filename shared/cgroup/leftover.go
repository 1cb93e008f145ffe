package cgroup

import (
	"hash/fnv"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ParentName returns the name of the group that contains the groups of the workers of a state
// directory.
func ParentName(stateDir string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(stateDir))
	hash := strconv.FormatUint(uint64(h.Sum32()), 16)
	return parentPrefix + strings.Repeat("0", 8-len(hash)) + hash
}

// Leftovers returns the ids of the workers of a state directory that have a group, sorted.
func (m *Machine) Leftovers(stateDir string) []string {
	var ids []string
	for _, dir := range m.Dirs(ParentName(stateDir), "") {
		names, _ := m.fs.list(dir)
		for _, name := range names {
			if m.fs.exists(path.Join(dir, name, "cgroup.procs")) && !slices.Contains(ids, name) {
				ids = append(ids, name)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// RemoveLeftover removes the group of a worker that has ended. A group with processes in it
// stays, and is an error.
func (m *Machine) RemoveLeftover(stateDir, id string) error {
	return open(m.fs, m.Dirs(ParentName(stateDir), id), id).Remove()
}
