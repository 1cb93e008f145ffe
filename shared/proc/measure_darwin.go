package proc

// Measure counts the processes below root, see [Tree]; the rest is not known here. The
// error is [ErrGone] if root has ended.
func Measure(root Identity, skip func(Process) (bool, error)) (Figures, error) {
	if !root.Alive() {
		return Figures{}, ErrGone
	}
	tree, err := Tree(root.PID, skip)
	return Figures{Processes: len(tree)}, err
}

// MeasureCPU is [Measure]: no CPU time is known here.
func MeasureCPU(root Identity, skip func(Process) (bool, error)) (Figures, error) {
	return Measure(root, skip)
}
