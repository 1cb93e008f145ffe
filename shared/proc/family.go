package proc

import "errors"

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
