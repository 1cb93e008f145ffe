package rundir

// IsHelper reports whether a process that has a mark is the swarm that this mark is
// for: [RespawnMark] or [CourierMark]. Here the mark is believed: the file that a process
// runs can't be told.
func IsHelper(mark string, _ int) bool { return helpers[mark] != nil }
