package proc

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
// missing, so whoever needs them all looks until nothing new turns up.
func Tree(root int, skip func(Process) bool) []Process {
	parent, err := Read(root)
	if err != nil {
		return nil
	}
	return appendTree(nil, parent, root, lister(), skip)
}

func appendTree(tree []Process, parent Process, root int, list func(int) []int, skip func(Process) bool) []Process {
	var children []Process
	for _, pid := range list(parent.PID) {
		p, err := Read(pid)
		if err != nil || p.Parent != parent.PID && p.Parent != root {
			continue
		}
		children = append(children, p)
	}
	// The list came from a pid. Only if that is still the same process are those
	// who call it their parent proven to be its children.
	again, err := Read(parent.PID)
	same := err == nil && again.Start == parent.Start
	for _, p := range children {
		if !same && p.Parent != root || skip(p) {
			continue
		}
		if !p.Ended {
			tree = append(tree, p)
		}
		tree = appendTree(tree, p, root, list, skip)
	}
	return tree
}
