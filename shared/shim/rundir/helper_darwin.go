package rundir

// IsHelper reports whether a process that has a mark is the swarm that this mark is for:
// [RespawnMark] or [CourierMark]. It trusts the mark on this system, which does not report
// the program of a process.
func IsHelper(mark string, _ int) bool { return helpers[mark] != nil }
