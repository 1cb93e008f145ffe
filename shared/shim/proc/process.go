package proc

import "errors"

// Process is one process as it was when it was read.
type Process struct {
	Identity
	// Name is the kernel's short name of the program: any bytes.
	Name string
	// Parent, Group and Session are the ids that it had.
	Parent, Group, Session int
	// State is the kernel's letter for its state, such as 'R', 'S', 'T', 'D'.
	State byte
	// Ended says that no thread of it runs any more, and that only its parent
	// has not taken notice.
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

// Tree returns the living processes below root, each before its children. What
// skip returns true for is left out, with all below it. Every one of them was
// proven to descend from root: one that forks, ends or moves meanwhile may be
// missing, so whoever needs them all looks until nothing new turns up. With an
// error, such as of too many open files, others may be missing too.
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

// walk is one look at a tree.
type walk struct {
	root int
	list func(pid int) ([]int, error)
	skip func(Process) (bool, error)
	tree []Process
	err  error
}

func (w *walk) below(parent Process) {
	pids, err := w.list(parent.PID)
	w.note(err)
	var children []Process
	for _, pid := range pids {
		p, err := Read(pid)
		w.note(err)
		if err == nil && (p.Parent == parent.PID || p.Parent == w.root) {
			children = append(children, p)
		}
	}
	// The list came from a pid. Only if that is still the same process are those
	// who call it their parent proven to be its children.
	again, err := Read(parent.PID)
	w.note(err)
	same := err == nil && again.Start == parent.Start
	for _, p := range children {
		if !same && p.Parent != w.root {
			continue
		}
		skip, err := w.skip(p)
		w.note(err)
		if skip || err != nil {
			continue
		}
		if !p.Ended {
			w.tree = append(w.tree, p)
		}
		w.below(p)
	}
}

// note remembers what was not seen although it was there.
func (w *walk) note(err error) {
	if err != nil && !errors.Is(err, ErrGone) {
		w.err = err
	}
}
