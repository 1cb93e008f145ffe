package rundir

// IsRespawn reports whether a process that has the mark [RespawnMark] is the helper
// that finishes the respawn of the worker which it was started in. Here the mark is
// believed: the file that a process runs can't be told.
func IsRespawn(int) bool { return true }
