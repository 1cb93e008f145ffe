package cgroup

import (
	"path"
	"slices"
	"strings"
)

// Controller is one thing that groups control.
type Controller string

// The controllers that workers need.
const (
	Memory  Controller = "memory"
	CPU     Controller = "cpu"
	PIDs    Controller = "pids"
	IO      Controller = "io"
	Freezer Controller = "freezer"
)

// Controllers are all of them, in the order of reports.
var Controllers = []Controller{Memory, CPU, PIDs, IO, Freezer}

type place struct {
	dir string
	// v2 says that the hierarchy is the one of version 2.
	v2 bool
	// shared says that it is the root of a container with processes in it, which have to
	// leave it before groups below it can have limits.
	shared bool
}

// file returns the path of a file of the group. Where there are two names, the first one is
// version 2's and the second one version 1's.
func (p place) file(names ...string) string {
	if p.v2 {
		return path.Join(p.dir, names[0])
	}
	return path.Join(p.dir, names[len(names)-1])
}

// Machine is where this process can make groups. It is made by [Look] and never changes.
type Machine struct {
	fs      files
	bases   map[Controller]place
	missing map[Controller]string
}

// Look finds out where this process can make groups. It reads a few files and changes nothing.
func Look() *Machine { return look(system{}) }

func look(fs files) *Machine {
	m := &Machine{fs: fs, bases: make(map[Controller]place), missing: make(map[Controller]string)}
	own := ownPaths(fs)
	mounts := mountsOf(fs)
	unified, why := m.unified(mounts, own)
	for _, c := range Controllers {
		old := m.separate(mounts, own, c)
		switch {
		case unified.dir != "" && m.gives(unified, c):
			m.bases[c] = unified
		case old.dir != "":
			m.bases[c] = old
		default:
			m.missing[c] = why
		}
	}
	if _, ok := m.bases[IO]; ok && !m.weighs(unified.dir) {
		delete(m.bases, IO)
		m.missing[IO] = "no disk of this machine has an I/O scheduler that knows weights, such as bfq"
	}
	return m
}

// Version returns the version of the groups that limit with a controller, 0 if there are none.
func (m *Machine) Version(c Controller) int {
	p, ok := m.bases[c]
	switch {
	case !ok:
		return 0
	case p.v2:
		return 2
	default:
		return 1
	}
}

// Missing returns why there are no groups with a controller; empty if there are.
func (m *Machine) Missing(c Controller) string { return m.missing[c] }

type mount struct {
	// root is the group that is mounted, at the directory at.
	root, at string
	v2       bool
	options  []string
}

func mountsOf(fs files) []mount {
	text, err := fs.read("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var mounts []mount
	for line := range strings.Lines(text) {
		// "36 35 98:0 /root /mount rw,noatime master:1 - cgroup cgroup rw,memory"; see
		// proc_pid_mountinfo(5).
		about, kind, ok := strings.Cut(strings.TrimSpace(line), " - ")
		words, of := strings.Fields(about), strings.Fields(kind)
		if !ok || len(words) < 5 || len(of) < 3 || of[0] != "cgroup" && of[0] != "cgroup2" {
			continue
		}
		mounts = append(mounts, mount{
			root: unescape(words[3]), at: unescape(words[4]), v2: of[0] == "cgroup2", options: strings.Split(of[2], ","),
		})
	}
	return mounts
}

// unescape undoes how the kernel writes blanks in paths.
func unescape(p string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(p)
}

// ownPaths returns the groups of this process: by controller of version 1, "" for version 2.
func ownPaths(fs files) map[string]string {
	text, err := fs.read("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	own := make(map[string]string)
	for line := range strings.Lines(text) {
		// "4:memory:/path", or "0::/path" of version 2; see cgroups(7).
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) == 3 {
			for name := range strings.SplitSeq(fields[1], ",") {
				own[name] = fields[2]
			}
		}
	}
	return own
}

// dir returns the directory of a group of the hierarchy, or the mounted one if the group is
// not visible from here. Groups of workers never are below those of other workers.
func (m *Machine) dir(mt mount, group string) string {
	below, ok := strings.CutPrefix(group, strings.TrimSuffix(mt.root, "/"))
	if !ok || strings.HasPrefix(below, "/..") {
		return mt.at
	}
	elements := strings.Split(below, "/")
	for i, e := range elements {
		if isParent(e) {
			elements = elements[:i]
			break
		}
	}
	dir := path.Join(mt.at, path.Join(elements...))
	if !m.fs.exists(dir) {
		return mt.at
	}
	return dir
}

// separate returns where groups of version 1 with that controller can be made.
func (m *Machine) separate(mounts []mount, own map[string]string, c Controller) place {
	name := string(c)
	if c == IO {
		name = "blkio"
	}
	for _, mt := range mounts {
		if mt.v2 || !slices.Contains(mt.options, name) {
			continue
		}
		if dir := m.dir(mt, own[name]); m.fs.writable(dir) {
			return place{dir: dir}
		}
	}
	return place{}
}

// unified returns where groups of version 2 can be made, or why they can't: the nearest
// group that gives the most controllers.
func (m *Machine) unified(mounts []mount, own map[string]string) (place, string) {
	group, there := own[""]
	best, most := place{}, -1
	for _, mt := range mounts {
		// A group that is mounted outside of this namespace, which no process can leave, is left
		// out.
		if !mt.v2 || !there || strings.HasPrefix(mt.root, "/..") {
			continue
		}
		for dir := m.dir(mt, group); strings.HasPrefix(dir, mt.at); dir = path.Dir(dir) {
			if !m.fs.writable(dir) || !m.fs.writable(path.Join(dir, "cgroup.procs")) {
				continue
			}
			p := place{dir: dir, v2: true, shared: m.isShared(mt, dir)}
			n := 0
			for _, c := range Controllers {
				if m.gives(p, c) {
					n++
				}
			}
			if n > most {
				best, most = p, n
			}
		}
	}
	if len(mounts) == 0 {
		return best, "this system shows no control groups"
	}
	return best, "this process may not make control groups for it (run swarm as root, or where systemd delegates them; 'swarm doctor' says how)"
}

// isShared reports whether a directory is the root that a container sees of the groups, and
// holds processes that can leave it: all of the container, which can then have groups with
// limits. A process that is not visible here has the number 0, and can't be moved.
func (m *Machine) isShared(mt mount, dir string) bool {
	if mt.root != "/" || dir != mt.at || m.isRoot(dir) {
		return false
	}
	procs, err := m.fs.read(path.Join(dir, "cgroup.procs"))
	pids := strings.Fields(procs)
	return err == nil && len(pids) > 0 && !slices.Contains(pids, "0")
}

// gives reports whether groups of version 2 below a place can have a controller. A group
// with processes of its own gives none to those below it, except the root of all, and the
// root of a container once its processes have left it.
func (m *Machine) gives(p place, c Controller) bool {
	dir := p.dir
	if c == Freezer {
		return m.fs.exists(path.Join(dir, "cgroup.freeze")) || m.isRoot(dir)
	}
	if !m.has(dir, "cgroup.controllers", string(c)) {
		return false
	}
	if m.has(dir, "cgroup.subtree_control", string(c)) {
		return true
	}
	if !m.fs.writable(path.Join(dir, "cgroup.subtree_control")) {
		return false
	}
	procs, err := m.fs.read(path.Join(dir, "cgroup.procs"))
	return p.shared || m.isRoot(dir) || err == nil && strings.TrimSpace(procs) == ""
}

// isRoot reports whether a directory is the root of the hierarchy, not only of a namespace.
func (m *Machine) isRoot(dir string) bool { return !m.fs.exists(path.Join(dir, "cgroup.type")) }

func (m *Machine) has(dir, file, word string) bool {
	text, err := m.fs.read(path.Join(dir, file))
	return err == nil && slices.Contains(strings.Fields(text), word)
}

// weighs reports whether the weight of a group has an effect on any disk.
func (m *Machine) weighs(unified string) bool {
	if unified != "" && m.bases[IO].v2 {
		// The root alone has it.
		for dir := unified; strings.HasPrefix(dir, "/sys/"); dir = path.Dir(dir) {
			if text, err := m.fs.read(path.Join(dir, "io.cost.qos")); err == nil && strings.Contains(text, "enable=1") {
				return true
			}
		}
	}
	disks, _ := m.fs.list("/sys/block")
	for _, disk := range disks {
		text, err := m.fs.read(path.Join("/sys/block", disk, "queue/scheduler"))
		if err == nil && strings.Contains(text, "[bfq]") {
			return true
		}
	}
	return false
}

// parentPrefix begins the names of the groups that contain the groups of workers.
const parentPrefix = "swarm-"

// isParent reports whether a name is one of a group that contains the groups of workers: the
// prefix and eight hexadecimal digits.
func isParent(name string) bool {
	hash, ok := strings.CutPrefix(name, parentPrefix)
	return ok && len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == ""
}
