package proc

// LookupEnv returns a variable of the environment that a process was started with, and
// whether it is there. It is not there if the process is gone or belongs to another user.
// An error means that the answer is unknown.
func LookupEnv(pid int, name string) (value string, ok bool, err error) {
	_, env := startedWith(pid)
	l := lookup{name: name}
	if l.feed(env) {
		return string(l.value), true, nil
	}
	return "", false, nil
}
