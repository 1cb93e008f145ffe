package proc

import (
	"errors"
	"os"
	"slices"
	"time"
)

// Process is one process as it was when it was read.
type Process struct {
	Identity
	// Name is the kernel's short name of the program: any bytes.
	Name string
	// Parent, Group and Session are the ids that it had.
	Parent, Group, Session int
	// Terminal says that it has a controlling terminal, and Foreground is the process group
	// in the foreground of that; 0: none.
	Terminal   bool
	Foreground int
	// State is the kernel's letter for its state, such as 'R', 'S', 'T', 'D'.
	State byte
	// Threads is how many threads it had, 0 if that is not known.
	Threads int
	// CPU is the time that it has spent on CPUs, Reaped that of its ended children which it
	// waited for, and of theirs; in steps of 10 ms. Resident is how much memory it had, in
	// bytes. They are 0 if that is not known.
	CPU, Reaped time.Duration
	Resident    int64
	// HasReaped says that it has waited for the end of a child: the page faults of a child
	// are then among those that it has reaped, and no program runs without one. It is false
	// if that is not known.
	HasReaped bool
	// Ended says that none of its threads runs any more; only its parent has not reaped it.
	Ended bool
}

// Find returns the living processes of this machine that match. It reads every
// process: use it only where no tree leads to them.
func Find(match func(Process) bool) ([]Process, error) {
	pids, err := all()
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, pid := range pids {
		if p, err := Read(pid); err == nil && !p.Ended && match(p) {
			found = append(found, p)
		}
	}
	return found, nil
}

// Tree returns the living processes below root, each before its children. A process for
// which skip returns true is left out, with everything below it. Each returned process was
// proven to descend from root. A process that forks, ends or moves meanwhile may be
// missing, so a caller that needs all of them repeats the call until it returns nothing
// new. After an error, such as too many open files, others may be missing too.
func Tree(root int, skip func(Process) (bool, error)) ([]Process, error) {
	w := walk{root: root, skip: skip}
	parent, err := Read(root)
	if err != nil {
		return nil, err
	}
	w.list, w.err = lister()
	w.below(parent)
	return w.tree, w.err
}

// Below is [Tree] for the calling process itself, with less work: all its children must be
// children of the named threads, see [ForkThreads].
func Below(threads []int, skip func(Process) (bool, error)) ([]Process, error) {
	self := os.Getpid()
	w := walk{root: self, skip: skip}
	w.list, w.err = lister()
	pids, err := own(self, threads, w.list)
	w.note(err)
	w.add(w.read(pids, self), true)
	return w.tree, w.err
}

// walk is one traversal of a tree.
type walk struct {
	root int
	list func(Process) ([]int, error)
	skip func(Process) (bool, error)
	tree []Process
	err  error
	// ended says to keep processes that have ended and were not reaped.
	ended bool
}

func (w *walk) below(parent Process) {
	pids, err := w.list(parent)
	w.note(err)
	children := w.read(pids, parent.PID)
	if len(children) == 0 {
		return
	}
	// The list was read by pid. The processes in it are proven to be children only if the
	// pid still belongs to the same process.
	again, err := Read(parent.PID)
	w.note(err)
	w.add(children, err == nil && again.Start == parent.Start)
}

// read returns the processes of a list that are children of parent or have become children
// of the root.
func (w *walk) read(pids []int, parent int) []Process {
	var children []Process
	for _, pid := range pids {
		p, err := Read(pid)
		w.note(err)
		if err == nil && (p.Parent == parent || p.Parent == w.root) {
			children = append(children, p)
		}
	}
	return children
}

// add adds children, and what is below them. If their parent is not proven to be
// the same as before, only those of the root are proven.
func (w *walk) add(children []Process, same bool) {
	for _, p := range children {
		if !same && p.Parent != w.root {
			continue
		}
		skip, err := w.skip(p)
		w.note(err)
		if skip || err != nil {
			continue
		}
		if !p.Ended || w.ended {
			w.tree = append(w.tree, p)
		}
		w.below(p)
	}
}

func (w *walk) note(err error) {
	if err != nil && !errors.Is(err, ErrGone) {
		w.err = err
	}
}

// Children returns the living children of a process. A child that forks or ends
// meanwhile may be missing.
func Children(pid int) ([]Process, error) {
	parent, err := Read(pid)
	if err != nil {
		return nil, err
	}
	list, err := lister()
	if err != nil {
		return nil, err
	}
	pids, err := list(parent)
	if err != nil {
		return nil, err
	}
	w := walk{root: pid}
	return slices.DeleteFunc(w.read(pids, pid), func(p Process) bool { return p.Ended }), nil
}

// familyOf reads all processes once and lists children from that.
func familyOf() (func(Process) ([]int, error), error) {
	family := make(map[int][]int)
	list := func(p Process) ([]int, error) { return family[p.PID], nil }
	pids, err := all()
	if err != nil {
		return list, err
	}
	for _, pid := range pids {
		p, readErr := Read(pid)
		switch {
		case readErr == nil:
			family[p.Parent] = append(family[p.Parent], pid)
		case !errors.Is(readErr, ErrGone):
			err = readErr
		}
	}
	return list, err
}

// LookupEnv returns a variable of the environment that a process was started with, and
// whether it is there. It is not there if the process is gone or belongs to another user.
// An error means that the answer is unknown.
func LookupEnv(pid int, name string) (value string, ok bool, err error) {
	l := lookup{name: name}
	err = lookupAll(pid, l.feed)
	return string(l.value), l.found, err
}

// Getenv is [LookupEnv] for callers that treat an unreadable environment as empty.
func Getenv(pid int, name string) (string, bool) {
	value, ok, err := LookupEnv(pid, name)
	return value, ok && err == nil
}

// LookupEnvs is [LookupEnv] for several variables, in one pass. A variable that is not there
// is empty.
func LookupEnvs(pid int, names ...string) (values []string, err error) {
	found := make([]lookup, len(names))
	for i, name := range names {
		found[i].name = name
	}
	err = lookupAll(pid, func(chunk []byte) (all bool) {
		all = true
		for i := range found {
			all = (found[i].done || found[i].feed(chunk)) && all
		}
		return all
	})
	values = make([]string, len(names))
	for i := range found {
		values[i] = string(found[i].value)
	}
	return values, err
}

// lookup finds a variable in a stream of NUL-terminated entries without holding
// more of it than the value: environments can be megabytes long.
type lookup struct {
	name  string
	at    int // bytes of "name=" seen in this entry, -1: another variable
	value []byte
	found bool
	done  bool // the value is complete
}

// feed returns true once the value is complete.
func (l *lookup) feed(chunk []byte) bool {
	for _, b := range chunk {
		switch {
		case l.found:
			if b == 0 {
				l.done = true
				return true
			}
			l.value = append(l.value, b)
		case b == 0:
			l.at = 0
		case l.at < 0:
		case l.at < len(l.name) && b == l.name[l.at]:
			l.at++
		case l.at == len(l.name) && b == '=':
			l.found = true
		default:
			l.at = -1
		}
	}
	return false
}

// Figures are what the processes below a subreaper use at one moment. A figure that this
// system does not report, or hides for one of the processes, is nil.
type Figures struct {
	// Processes and Threads count the living ones.
	Processes int
	Threads   *int
	// CPU is the time on CPUs of the processes and of those that have ended.
	CPU *time.Duration
	// Memory is what they hold, in bytes. With PSS a page that several processes share
	// counts in equal parts, else once for each.
	Memory *int64
	PSS    bool
	// Peak is the largest memory that a living process had at any time, in bytes.
	Peak *int64
	// Read and Written are the bytes read from and written to storage by the processes and
	// by those that have ended.
	Read, Written *int64
}
