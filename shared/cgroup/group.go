package cgroup

import (
	"errors"
	"hash/fnv"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Group is the group of one worker, in one or more hierarchies. The zero value and nil have
// no directories: they hold nothing and limit nothing. It is for one goroutine.
type Group struct {
	fs     files
	places map[Controller]place
	limits swarm.Limits
}

// Problem says why one limit is not enforced.
type Problem struct {
	Controller Controller
	Reason     string
}

// NeededBy returns the controllers that limits need; none if they need no group.
func NeededBy(l swarm.Limits) []Controller {
	var needed []Controller
	// In the order of Controllers, in which the problems are reported.
	for i, set := range []bool{l.Memory != 0, l.CPUs != 0, l.PIDs != 0, l.IOWeight != 0} {
		if set {
			needed = append(needed, Controllers[i])
		}
	}
	return needed
}

// Make makes the group "parent/id" with limits. parent is one that [ParentName] returned. A
// limit that can't be enforced is a problem, and the others hold. It returns nil if no
// limit needs a group or none can be enforced. The group may exist already.
func (m *Machine) Make(parent, id string, l swarm.Limits) (*Group, []Problem) {
	g := &Group{fs: m.fs, places: make(map[Controller]place)}
	var problems []Problem
	needed := NeededBy(l)
	if len(needed) == 0 {
		return nil, nil
	}
	for _, c := range needed {
		why := m.missing[c]
		if base, ok := m.bases[c]; ok {
			err := g.make(base, parent, id, c)
			if err == nil {
				err = g.set(c, l)
			}
			if err == nil {
				continue
			}
			why = reason(err)
			delete(g.places, c)
		}
		problems = append(problems, Problem{c, why})
	}
	if len(g.places) == 0 {
		_ = m.at(parent, id).Remove()
		return nil, problems
	}
	g.limits = l
	// The other controllers are for limits that the group may get later, and the freezer, which
	// no limit needs, is for pauses and kills.
	for _, c := range Controllers {
		base, ok := m.bases[c]
		_, has := g.places[c]
		if ok && !has && !slices.ContainsFunc(problems, func(p Problem) bool { return p.Controller == c }) {
			_ = g.make(base, parent, id, c)
		}
	}
	return g, problems
}

// Dirs returns where the directories of a group would be.
func (m *Machine) Dirs(parent, id string) []string { return m.at(parent, id).Dirs() }

func (m *Machine) at(parent, id string) *Group {
	g := &Group{fs: m.fs, places: make(map[Controller]place)}
	for c, base := range m.bases {
		g.places[c] = place{dir: path.Join(base.dir, parent, id), v2: base.v2}
	}
	return g
}

// attempts is how often a group is made whose parent another process removes.
const attempts = 5

func (g *Group) make(base place, parent, id string, c Controller) error {
	above := path.Join(base.dir, parent)
	dir := path.Join(above, id)
	var err error
	for range attempts {
		if base.shared && c != Freezer {
			if err = g.vacate(base.dir, c); err != nil {
				return err
			}
		}
		if err = g.fs.mkdir(above); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		err = nil
		if base.v2 && c != Freezer {
			err = g.delegate(c, base.dir, above)
		}
		if err == nil {
			err = g.fs.mkdir(dir)
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			g.places[c] = place{dir: dir, v2: base.v2}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENODEV) {
			return err
		}
	}
	return err
}

// restName is the name of the group for the processes that were in the root of a container.
// Docker's own way to run in a container uses the same one.
const restName = "init"

// vacateRounds bounds how often processes are moved that others start meanwhile.
const vacateRounds = 100

// vacate lets the groups below the root of a container use a controller: it moves the
// processes in the root into a group below it, since a group with processes of its own gives
// no controllers.
func (g *Group) vacate(root string, c Controller) error {
	rest := path.Join(root, restName)
	err := error(unix.EBUSY)
	for round := 0; errors.Is(err, unix.EBUSY) && round < vacateRounds; round++ {
		procs, readErr := g.fs.read(path.Join(root, "cgroup.procs"))
		if readErr != nil {
			return readErr
		}
		pids := strings.Fields(procs)
		if len(pids) > 0 {
			if err := g.fs.mkdir(rest); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		for _, pid := range pids {
			if err := g.fs.write(path.Join(rest, "cgroup.procs"), pid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
		err = g.delegate(c, root)
	}
	return err
}

// delegate lets the groups below each of these directories use a controller.
func (g *Group) delegate(c Controller, dirs ...string) error {
	for _, d := range dirs {
		if err := g.fs.write(path.Join(d, "cgroup.subtree_control"), "+"+string(c)); err != nil {
			return err
		}
	}
	return nil
}

// Dirs returns the directories of the group, one in each hierarchy.
func (g *Group) Dirs() []string {
	if g == nil {
		return nil
	}
	var dirs []string
	for _, c := range Controllers {
		if p, ok := g.places[c]; ok && !slices.Contains(dirs, p.dir) {
			dirs = append(dirs, p.dir)
		}
	}
	return dirs
}

// Open returns the group of a worker whose directories are known. A directory that is not a
// group of that name, made by swarm, is left out: the list may be forged.
func Open(dirs []string, id string) *Group { return open(system{}, dirs, id) }

func open(fsys files, dirs []string, id string) *Group {
	g := &Group{fs: fsys, places: make(map[Controller]place)}
	for _, dir := range dirs {
		if path.Base(dir) != id || !isParent(path.Base(path.Dir(dir))) || !path.IsAbs(dir) || !fsys.isGroup(dir) {
			continue
		}
		p := place{dir: dir, v2: fsys.exists(path.Join(dir, "cgroup.freeze"))}
		for c, names := range map[Controller][]string{
			Memory:  {"memory.max", "memory.limit_in_bytes"},
			CPU:     {"cpu.max", "cpu.cfs_quota_us"},
			PIDs:    {"pids.max"},
			IO:      {"io.weight", "blkio.reset_stats"},
			Freezer: {"cgroup.freeze", "freezer.state"},
		} {
			if fsys.exists(p.file(names...)) {
				g.places[c] = p
			}
		}
	}
	return g
}

// at returns where the group has a controller.
func (g *Group) at(c Controller) (place, bool) {
	if g == nil {
		return place{}, false
	}
	p, ok := g.places[c]
	return p, ok
}

// IsEmpty reports whether the group has no directories.
func (g *Group) IsEmpty() bool { return g == nil || len(g.places) == 0 }

// EntryFiles are the files that a process writes "0" into to enter the group.
func (g *Group) EntryFiles() []string {
	dirs := g.Dirs()
	for i, dir := range dirs {
		dirs[i] = path.Join(dir, "cgroup.procs")
	}
	return dirs
}

// Members returns the pids of the processes in the group, and in groups that they have made
// below it.
func (g *Group) Members() ([]int, error) {
	// Every process is in all hierarchies, unless root moved it.
	dirs := g.Dirs()
	i := slices.IndexFunc(dirs, func(dir string) bool { return g.fs.exists(path.Join(dir, "cgroup.procs")) })
	if i < 0 {
		return nil, nil
	}
	groups, err := g.withBelow(dirs[i])
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, group := range groups {
		text, err := g.fs.read(path.Join(group, "cgroup.procs"))
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for word := range strings.FieldsSeq(text) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// maxBelow bounds how many groups below one are looked at.
const maxBelow = 1000

// withBelow returns a group and the groups below it, each behind the one above it. With an
// error it returns those that it found.
func (g *Group) withBelow(dir string) ([]string, error) {
	all := []string{dir}
	for i := 0; i < len(all); i++ {
		if len(all) > maxBelow {
			return all, errors.New(dir + " has more than " + strconv.Itoa(maxBelow) + " groups below it")
		}
		names, err := g.fs.list(all[i])
		if err != nil && !gone(err) {
			return all, err
		}
		for _, name := range names {
			if below := path.Join(all[i], name); g.fs.exists(path.Join(below, "cgroup.procs")) {
				all = append(all, below)
			}
		}
	}
	return all, nil
}

// gone reports whether an error says that a group does not exist any more.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) }

// OOMKills returns how many processes of the group the system has killed because the group
// needed more memory than its limit allows. ok is false if that is not known.
func (g *Group) OOMKills() (n int64, ok bool) {
	p, ok := g.at(Memory)
	if !ok {
		return 0, false
	}
	return g.count(p.file("memory.events", "memory.oom_control"), "oom_kill")
}

// Peak returns the most memory that the group has held, in bytes. ok is false if that is not
// known.
func (g *Group) Peak() (bytes int64, ok bool) {
	p, ok := g.at(Memory)
	if !ok {
		return 0, false
	}
	return g.number(p.file("memory.peak", "memory.max_usage_in_bytes"))
}

// number returns the number that is the content of a file.
func (g *Group) number(file string) (int64, bool) {
	text, err := g.fs.read(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil
}

// count returns the number after a word at the beginning of a line.
func (g *Group) count(file, word string) (int64, bool) {
	text, err := g.fs.read(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == word {
			n, err := strconv.ParseInt(value, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

const (
	// removeLimit is how long the kernel may take to drop processes that have ended from
	// a group, for which there is no event in version 1.
	removeLimit = 200 * time.Millisecond
	removeStep  = 2 * time.Millisecond
)

// Remove removes the group and those that its processes have made below it, which must be
// empty, and the group above it if nothing else is in that. A group that is gone is a
// success.
func (g *Group) Remove() error {
	var failed error
	until := time.Now().Add(removeLimit)
	for _, dir := range g.Dirs() {
		err := g.rmdir(dir)
		for errors.Is(err, unix.EBUSY) && time.Now().Before(until) {
			time.Sleep(removeStep)
			err = g.rmdir(dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
			continue
		}
		_ = g.fs.rmdir(path.Dir(dir)) // not empty: other workers have groups there
	}
	return failed
}

// rmdir removes a group and the groups below it.
func (g *Group) rmdir(dir string) error {
	err := g.fs.rmdir(dir)
	if !errors.Is(err, unix.EBUSY) {
		return err
	}
	all, _ := g.withBelow(dir) // those that are left make the last rmdir fail
	if len(all) == 1 {
		return err
	}
	for _, group := range slices.Backward(all) {
		err = g.fs.rmdir(group)
	}
	return err
}

// reason returns the part of an error that helps a user: the name of a file is long and says
// little.
func reason(err error) string {
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}

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
