package proc

// familyOf looks at all processes once and lists children from that.
func familyOf() func(int) []int {
	family := make(map[int][]int)
	pids, _ := all()
	for _, pid := range pids {
		if p, err := Read(pid); err == nil {
			family[p.Parent] = append(family[p.Parent], pid)
		}
	}
	return func(pid int) []int { return family[pid] }
}
