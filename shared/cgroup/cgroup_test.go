package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// tree is a file system with control groups of version 2, as the kernel keeps it: a new
// group has the files of the controllers that the group above it gives.
type tree struct {
	files    map[string]string
	readOnly []string
	// refuse returns the error of a write, if any.
	refuse func(path, text string) error
	// unlisted is the error of each list, if any.
	unlisted error
}

const (
	mountpoint = "/sys/fs/cgroup"
	user       = mountpoint + "/user.slice/user-1000.slice/user@1000.service"
	scope      = user + "/app.slice/terminal.scope"
)

// session is a machine on which systemd delegates a part of the tree to a user, who runs a
// terminal in it.
func session() *tree {
	t := &tree{files: map[string]string{
		"/proc/self/cgroup":    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/terminal.scope\n",
		"/proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
	}}
	t.group(mountpoint, "cpu io memory pids")
	delete(t.files, mountpoint+"/cgroup.type") // the root has none
	t.files[mountpoint+"/cgroup.procs"] = "1\n2\n"
	for _, dir := range []string{"/user.slice", "/user.slice/user-1000.slice", "/user.slice/user-1000.slice/user@1000.service"} {
		t.group(mountpoint+dir, "cpu memory pids")
		t.readOnly = append(t.readOnly, path.Dir(mountpoint+dir))
	}
	t.group(user+"/app.slice", "cpu memory pids")
	t.group(scope, "")
	t.files[scope+"/cgroup.procs"] = "100\n"
	for _, dir := range []string{mountpoint, mountpoint + "/user.slice", mountpoint + "/user.slice/user-1000.slice", user, user + "/app.slice"} {
		t.files[dir+"/cgroup.subtree_control"] = "cpu memory pids"
	}
	return t
}

func (t *tree) group(dir, controllers string) {
	for name, text := range map[string]string{
		"cgroup.type": "domain\n", "cgroup.procs": "", "cgroup.controllers": controllers, "cgroup.subtree_control": "",
		"cgroup.freeze": "0\n", "cgroup.kill": "", "cgroup.events": "populated 0\nfrozen 0\n",
	} {
		t.files[dir+"/"+name] = text
	}
	t.give(dir, controllers)
}

// give adds the files of controllers to a group.
func (t *tree) give(dir, controllers string) {
	t.files[dir+"/cgroup.controllers"] = controllers
	for c := range strings.FieldsSeq(controllers) {
		for name, text := range map[string]map[string]string{
			"memory": {"memory.max": "max\n", "memory.swap.max": "max\n", "memory.current": "4096\n", "memory.events": "low 0\noom 0\noom_kill 0\n", "memory.peak": "8192\n"},
			"cpu":    {"cpu.max": "max 100000\n"},
			"pids":   {"pids.max": "max\n"},
			"io":     {"io.weight": "default 100\n"},
		}[c] {
			if _, has := t.files[dir+"/"+name]; !has {
				t.files[dir+"/"+name] = text
			}
		}
	}
}

func (t *tree) read(p string) (string, error) {
	text, ok := t.files[p]
	if !ok {
		return "", fs.ErrNotExist
	}
	return text, nil
}

func (t *tree) write(p, text string) error {
	if _, ok := t.files[p]; !ok {
		return fs.ErrNotExist
	}
	if t.refuse != nil {
		if err := t.refuse(p, text); err != nil {
			return err
		}
	}
	switch path.Base(p) {
	case "cgroup.subtree_control":
		if strings.TrimSpace(t.files[path.Dir(p)+"/cgroup.procs"]) != "" && path.Dir(p) != mountpoint {
			return unix.EBUSY
		}
		t.files[p] += " " + strings.TrimPrefix(text, "+")
		for name := range maps.Clone(t.files) {
			if child := path.Dir(name); path.Base(name) == "cgroup.type" && path.Dir(child) == path.Dir(p) {
				t.give(child, t.files[p])
			}
		}
		return nil
	case "cgroup.procs":
		// The process leaves the group in which it is.
		for name, pids := range t.files {
			if path.Base(name) == "cgroup.procs" {
				left := slices.DeleteFunc(strings.Fields(pids), func(pid string) bool { return pid == text })
				t.files[name] = strings.Join(left, "\n")
			}
		}
		t.files[p] += "\n" + text + "\n"
		return nil
	case "cgroup.freeze":
		t.files[path.Dir(p)+"/cgroup.events"] = "populated 1\nfrozen " + text + "\n"
	}
	t.files[p] = text
	return nil
}

func (t *tree) mkdir(p string) error {
	if t.exists(p) {
		return fs.ErrExist
	}
	if !t.exists(path.Dir(p)) {
		return fs.ErrNotExist
	}
	t.group(p, t.files[path.Dir(p)+"/cgroup.subtree_control"])
	return nil
}

func (t *tree) rmdir(p string) error {
	if !t.exists(p) {
		return fs.ErrNotExist
	}
	if strings.TrimSpace(t.files[p+"/cgroup.procs"]) != "" {
		return unix.EBUSY
	}
	for name := range t.files {
		if path.Dir(path.Dir(name)) == p {
			return unix.EBUSY
		}
	}
	for name := range t.files {
		if path.Dir(name) == p {
			delete(t.files, name)
		}
	}
	return nil
}

func (t *tree) list(p string) ([]string, error) {
	if t.unlisted != nil {
		return nil, t.unlisted
	}
	var names []string
	for name := range t.files {
		if rest, ok := strings.CutPrefix(name, p+"/"); ok {
			first, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(names, first) {
				names = append(names, first)
			}
		}
	}
	return names, nil
}

func (t *tree) exists(p string) bool {
	for name := range t.files {
		if name == p || strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}

func (t *tree) writable(p string) bool {
	return !slices.Contains(t.readOnly, p) && !slices.Contains(t.readOnly, path.Dir(p))
}

func (t *tree) isGroup(p string) bool { return t.exists(p + "/cgroup.procs") }

const parent = "swarm-0123abcd"

func TestDelegatedSession(t *testing.T) {
	t.Parallel()
	fake := session()
	m := look(fake)
	for _, c := range []Controller{Memory, CPU, PIDs, Freezer} {
		if m.Version(c) != 2 {
			t.Errorf("%s has version %d: %s", c, m.Version(c), m.Missing(c))
		}
	}
	if m.Version(IO) != 0 || m.Missing(IO) == "" {
		t.Errorf("a controller that is not delegated has version %d: %q", m.Version(IO), m.Missing(IO))
	}
	l := swarm.Limits{Memory: 2 << 30, CPUs: 1.5, PIDs: 500}
	g, problems := m.Make(parent, "w1", l)
	dir := user + "/app.slice/" + parent + "/w1"
	if len(problems) > 0 || !slices.Equal(g.Dirs(), []string{dir}) || g.EntryFiles()[0] != dir+"/cgroup.procs" {
		t.Fatalf("%v, problems %v", g.Dirs(), problems)
	}
	fake.want(t, dir, map[string]string{"memory.max": "2147483648", "memory.swap.max": "0", "cpu.max": "150000 100000", "pids.max": "500"})
	// A worker that is started again has the same group.
	if again, problems := m.Make(parent, "w1", l); len(problems) > 0 || !slices.Equal(again.Dirs(), g.Dirs()) {
		t.Errorf("again: %v, %v", again.Dirs(), problems)
	}
	if err := g.Set(swarm.Limits{CPUs: 0.5}); err != nil {
		t.Error(err)
	}
	fake.want(t, dir, map[string]string{"memory.max": "max", "memory.swap.max": "max", "cpu.max": "50000 100000", "pids.max": "max"})
	if err := g.Set(swarm.Limits{IOWeight: 10}); err == nil {
		t.Error("a limit without its controller is set")
	}
	fake.files[dir+"/memory.events"] = "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"
	if n, ok := g.OOMKills(); n != 2 || !ok {
		t.Errorf("%d kills, %v", n, ok)
	}
	if peak, ok := g.Peak(); peak != 8192 || !ok {
		t.Errorf("peak %d, %v", peak, ok)
	}
	if err := g.Freeze(true); err != nil || fake.files[dir+"/cgroup.freeze"] != "1" {
		t.Errorf("freeze: %v", err)
	}
	frozen := func() bool { return fake.files[dir+"/cgroup.freeze"] == "1" }
	if err := g.Kill(func() bool { return !frozen() }); !errors.Is(err, ErrOthers) || fake.files[dir+"/cgroup.kill"] != "" || frozen() {
		t.Errorf("kill of others: %v", err)
	}
	if err := g.Kill(frozen); err != nil || fake.files[dir+"/cgroup.kill"] != "1" || frozen() {
		t.Errorf("kill: %v", err)
	}
	fake.files[dir+"/cgroup.procs"] = "12\n34\n"
	if pids, err := g.Members(); err != nil || !slices.Equal(pids, []int{12, 34}) {
		t.Errorf("members %v, %v", pids, err)
	}
	if err := g.Remove(); !errors.Is(err, unix.EBUSY) || !fake.exists(dir) {
		t.Errorf("a group with processes: %v", err)
	}
	fake.files[dir+"/cgroup.procs"] = ""
	// The worker may make groups of its own.
	if err := errors.Join(fake.mkdir(dir+"/own"), fake.mkdir(dir+"/own/more")); err != nil {
		t.Fatal(err)
	}
	fake.files[dir+"/own/more/cgroup.procs"] = "56\n"
	if pids, err := g.Members(); err != nil || !slices.Equal(pids, []int{56}) {
		t.Errorf("members %v, %v", pids, err)
	}
	fake.files[dir+"/own/more/cgroup.procs"] = ""
	if err := g.Remove(); err != nil || fake.exists(path.Dir(dir)) {
		t.Errorf("remove: %v", err)
	}
	if err := g.Remove(); err != nil {
		t.Errorf("remove again: %v", err)
	}
}

func (t *tree) want(tb *testing.T, dir string, files map[string]string) {
	tb.Helper()
	for name, want := range files {
		if got := strings.TrimSpace(t.files[dir+"/"+name]); got != want {
			tb.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestMoreThanTheNewLimit checks that no process is killed by a change of the limit.
func TestMoreThanTheNewLimit(t *testing.T) {
	t.Parallel()
	fake := session()
	g, _ := look(fake).Make(parent, "w1", swarm.Limits{Memory: 1 << 30, PIDs: 10})
	fake.files[g.Dirs()[0]+"/memory.current"] = "536870912\n"
	if err := g.Set(swarm.Limits{Memory: 64 << 20, PIDs: 20}); err == nil {
		t.Error("less memory than the worker holds is accepted")
	}
	fake.want(t, g.Dirs()[0], map[string]string{"memory.max": "1073741824", "pids.max": "10"})
}

// TestInsideAWorker checks that the groups of workers are next to each other.
func TestInsideAWorker(t *testing.T) {
	t.Parallel()
	fake := session()
	outer, _ := look(fake).Make(parent, "w1", swarm.Limits{PIDs: 10})
	fake.files[outer.Dirs()[0]+"/cgroup.procs"] = "100\n"
	fake.files["/proc/self/cgroup"] = "0::" + strings.TrimPrefix(outer.Dirs()[0], mountpoint) + "\n"
	inner, problems := look(fake).Make(parent, "w2", swarm.Limits{PIDs: 10})
	if len(problems) > 0 || path.Dir(inner.Dirs()[0]) != path.Dir(outer.Dirs()[0]) {
		t.Errorf("%v, %v", inner.Dirs(), problems)
	}
}

func TestNotDelegated(t *testing.T) {
	t.Parallel()
	fake := session()
	fake.files["/proc/self/cgroup"] = "0::/user.slice/user-1000.slice\n"
	m := look(fake)
	g, problems := m.Make(parent, "w1", swarm.Limits{Memory: 1 << 30, Nice: 3})
	if !g.IsEmpty() || len(problems) != 1 || problems[0].Controller != Memory || problems[0].Reason == "" {
		t.Errorf("%v, %+v", g.Dirs(), problems)
	}
	// No group is made: a nice value would need only the freezer.
	if g, problems := m.Make(parent, "w1", swarm.Limits{Nice: 3}); g != nil || problems != nil {
		t.Errorf("%v, %+v", g, problems)
	}
	if err := g.Set(swarm.Limits{}); err != nil || g.Remove() != nil || g.Freezes() {
		t.Errorf("an empty group: %v", err)
	}
}

// container is one with control groups of its own, in whose root its processes are.
func container() *tree {
	t := &tree{files: map[string]string{
		"/proc/self/cgroup":    "0::/\n",
		"/proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup rw,nsdelegate\n",
	}}
	t.group(mountpoint, "cpu memory pids")
	t.files[mountpoint+"/cgroup.procs"] = "1\n20\n"
	return t
}

// TestRootOfContainer limits workers in a container: the processes in the root make way.
func TestRootOfContainer(t *testing.T) {
	t.Parallel()
	fake := container()
	forked := false
	fake.refuse = func(p, text string) error {
		switch {
		case path.Base(p) == "cgroup.procs" && text == "20":
			// It has ended, and another process was started meanwhile.
			fake.files[mountpoint+"/cgroup.procs"] = strings.ReplaceAll(fake.files[mountpoint+"/cgroup.procs"], "20\n", "")
			if !forked {
				fake.files[mountpoint+"/cgroup.procs"] += "\n30\n"
			}
			forked = true
			return unix.ESRCH
		case p == mountpoint+"/cgroup.subtree_control" && strings.TrimSpace(fake.files[mountpoint+"/cgroup.procs"]) != "":
			return unix.EBUSY
		}
		return nil
	}
	m := look(fake)
	if m.Version(Memory) != 2 || m.Version(Freezer) != 2 {
		t.Fatalf("memory has version %d: %s", m.Version(Memory), m.Missing(Memory))
	}
	if got := fake.files[mountpoint+"/cgroup.procs"]; got != "1\n20\n" {
		t.Errorf("a look has moved processes: %q", got)
	}
	g, problems := m.Make(parent, "w1", swarm.Limits{Memory: 1 << 30, PIDs: 10})
	if dir := mountpoint + "/" + parent + "/w1"; len(problems) > 0 || !slices.Equal(g.Dirs(), []string{dir}) {
		t.Fatalf("%v, problems %v", g.Dirs(), problems)
	}
	fake.want(t, g.Dirs()[0], map[string]string{"memory.max": "1073741824", "pids.max": "10"})
	if got := strings.Fields(fake.files[mountpoint+"/init/cgroup.procs"]); !slices.Equal(got, []string{"1", "30"}) {
		t.Errorf("next to the workers are %q", got)
	}
	// From now on the processes are in a group below the root.
	fake.files["/proc/self/cgroup"] = "0::/init\n"
	if g, problems := look(fake).Make(parent, "w2", swarm.Limits{CPUs: 1}); len(problems) > 0 || path.Dir(path.Dir(g.Dirs()[0])) != mountpoint {
		t.Errorf("%v, problems %v", g.Dirs(), problems)
	}
}

// TestForeignRoot does not move processes that it can't see, nor those of a machine's root,
// nor those of a group that is not mounted as a root.
func TestForeignRoot(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*tree){
		"unseen process": func(fake *tree) { fake.files[mountpoint+"/cgroup.procs"] = "0\n1\n" },
		"not a root": func(fake *tree) {
			fake.files["/proc/self/mountinfo"] = "31 23 0:28 /machine.slice/a /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
			fake.files["/proc/self/cgroup"] = "0::/machine.slice/a\n"
		},
		"mounted outside": func(fake *tree) {
			fake.files["/proc/self/mountinfo"] = "31 23 0:28 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
			delete(fake.files, mountpoint+"/cgroup.type")
		},
		"read only": func(fake *tree) { fake.readOnly = []string{mountpoint} },
	} {
		fake := container()
		change(fake)
		before := fake.files[mountpoint+"/cgroup.procs"]
		if _, problems := look(fake).Make(parent, "w1", swarm.Limits{Memory: 1 << 30}); len(problems) != 1 {
			t.Errorf("%s: problems %v", name, problems)
		}
		if after := fake.files[mountpoint+"/cgroup.procs"]; after != before || fake.exists(mountpoint+"/init") {
			t.Errorf("%s: processes were moved: %q", name, after)
		}
	}
}

func TestNoGroupsAtAll(t *testing.T) {
	t.Parallel()
	m := look(&tree{files: map[string]string{}})
	for _, c := range Controllers {
		if m.Version(c) != 0 || m.Missing(c) == "" {
			t.Errorf("%s: version %d, %q", c, m.Version(c), m.Missing(c))
		}
	}
}

// TestForgedList opens directories that are not the group of that worker.
// A process that is not seen must not pass for one that is not there: all of them may be killed.
func TestMembersBelow(t *testing.T) {
	t.Parallel()
	fake := session()
	g, _ := look(fake).Make(parent, "w1", swarm.Limits{PIDs: 10})
	fake.group(g.Dirs()[0]+"/below", "")
	fake.files[g.Dirs()[0]+"/below/cgroup.procs"] = "100\n"
	if got, err := g.Members(); err != nil || !slices.Equal(got, []int{100}) {
		t.Errorf("%v, %v", got, err)
	}
	fake.unlisted = unix.EMFILE
	if got, err := g.Members(); !errors.Is(err, unix.EMFILE) {
		t.Errorf("%v, %v", got, err)
	}
	fake.unlisted = nil
	for i := range maxBelow {
		fake.group(fmt.Sprintf("%s/%d", g.Dirs()[0], i), "")
	}
	if got, err := g.Members(); err == nil {
		t.Errorf("%v of too many groups", got)
	}
}

func TestForgedList(t *testing.T) {
	t.Parallel()
	fake := session()
	g, _ := look(fake).Make(parent, "w1", swarm.Limits{PIDs: 10})
	dir := g.Dirs()[0]
	if got := open(fake, []string{dir}, "w1").Dirs(); !slices.Equal(got, []string{dir}) {
		t.Errorf("opened %v", got)
	}
	for _, forged := range []string{user, scope, path.Dir(dir), dir + "/../w1", "/tmp/" + parent + "/w1", "swarm-0123abcd/w1"} {
		if got := open(fake, []string{forged}, "w1"); !got.IsEmpty() {
			t.Errorf("%s is taken for a group of the worker: %v", forged, got.Dirs())
		}
	}
	if got := open(fake, []string{dir}, "w2"); !got.IsEmpty() {
		t.Errorf("the group of another worker: %v", got.Dirs())
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	fake := session()
	m := look(fake)
	const state = "/home/me/.swarm"
	for _, id := range []string{"b", "a"} {
		if _, problems := m.Make(ParentName(state), id, swarm.Limits{PIDs: 10}); problems != nil {
			t.Fatal(problems)
		}
	}
	if got := m.Leftovers(state); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("left over: %v", got)
	}
	if got := m.Leftovers("/other"); got != nil {
		t.Errorf("of another state directory: %v", got)
	}
	if err := m.RemoveLeftover(state, "a"); err != nil {
		t.Error(err)
	}
	if got := m.Leftovers(state); !slices.Equal(got, []string{"b"}) {
		t.Errorf("left over: %v", got)
	}
	if !isParent(ParentName(state)) {
		t.Errorf("%s does not name a group", ParentName(state))
	}
}
