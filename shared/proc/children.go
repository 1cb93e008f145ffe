package proc

// Children returns the living children of a process. One that forks or ends
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
	var children []Process
	for _, child := range pids {
		if p, err := Read(child); err == nil && p.Parent == pid && !p.Ended {
			children = append(children, p)
		}
	}
	return children, nil
}
