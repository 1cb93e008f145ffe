package proc

// Dir is empty: only libproc reports the working directory of a process.
func Dir(int) string { return "" }

// File returns a path of a file in the directory that is the only argument of a
// process, as it is of a shim; empty if there is none.
func File(pid int, name string) string {
	args := Args(pid)
	if len(args) != 2 || args[1] == "" {
		return ""
	}
	return args[1] + "/" + name
}

// HasClearedEnv is false: an empty environment can't be distinguished from one of a protected
// process.
func HasClearedEnv(int) bool { return false }

// HoldsPipe is false: see Dir.
func HoldsPipe(int, ...uint64) bool { return false }

// HoldsClosed is false: there is no cheap way to list the open files of another process.
func HoldsClosed(int, uint64) bool { return false }
