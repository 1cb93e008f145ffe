package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// Plan is a sandbox with all its paths. They are absolute and free of symbolic links but for
// the names in Kept, and all but those of Hide exist.
type Plan struct {
	// Bubblewrap is the path of the program.
	Bubblewrap string
	// Root says that the worker runs as root.
	Root bool
	// NoNetwork says that it gets a network of its own, without any connection.
	NoNetwork bool
	// Dir is the directory in which it starts.
	Dir string
	// Temporary are directories in whose place it gets empty ones that it can write to, with
	// the mode of /tmp, and Empty those with the mode of a home.
	Temporary, Empty []string
	// Replace maps directories to those that take their places, writable.
	Replace map[string]string
	// Read are shown again where a directory above them is empty.
	Read []string
	// Kept maps names in empty directories to the files that are shown there again. At a start
	// at which the file is gone, the name is gone as well.
	Kept map[string]string
	// Hide are files and directories that it is not to see or to connect to, if they exist
	// when it is started. The option --hide of [rundir.WrapHide] leaves that to the shim.
	Hide []string
	// Write can be changed, and of that Protected can not. Absent are empty files there that
	// can't be changed, whether or not they exist.
	Write, Protected, Absent []string

	// repositories are those whose configuration is to be kept from the worker.
	repositories []string
}

// Args returns the command line of bubblewrap, without the command.
func (p Plan) Args() []string {
	args := []string{p.Bubblewrap, "--unshare-pid", "--as-pid-1", "--unshare-ipc", "--cap-drop", "ALL"}
	add := func(more ...string) { args = append(args, more...) }
	if p.NoNetwork {
		add("--unshare-net")
	}
	add("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	if p.Root {
		// The files below /proc/sys belong to root, also to a root without any capability.
		add("--remount-ro", "/proc")
	}
	// Outer directories come before those in them.
	for _, dir := range sorted(p.Temporary) {
		add("--perms", "1777", "--tmpfs", dir)
	}
	for _, dir := range sorted(p.Empty) {
		add("--perms", "0700", "--tmpfs", dir)
	}
	for _, at := range sorted(keys(p.Replace)) {
		add("--bind", p.Replace[at], at)
	}
	for _, path := range sorted(p.Read) {
		add("--ro-bind", path, path)
	}
	for _, name := range sorted(keys(p.Kept)) {
		add("--ro-bind-try", p.Kept[name], name)
	}
	var hidden []string
	for _, path := range sorted(p.Hide) {
		if p.shows(path) && !withinAny(path, hidden) {
			hidden = append(hidden, path)
			add(rundir.WrapHide, path)
		}
	}
	add(rundir.WrapHideSockets)
	for _, path := range sorted(p.Write) {
		add("--bind", path, path)
	}
	for _, path := range sorted(p.Protected) {
		add("--ro-bind", path, path)
	}
	for _, path := range sorted(p.Absent) {
		add("--ro-bind", "/dev/null", path)
	}
	return append(args, "--chdir", p.Dir)
}

// shows reports whether a path is seen in the sandbox before it is hidden, and not to be
// written.
func (p Plan) shows(path string) bool {
	return !withinAny(path, p.Write) && (withinAny(path, keys(p.Kept)) || withinAny(path, p.Read) ||
		!withinAny(path, slices.Concat(p.Temporary, p.Empty, keys(p.Replace), []string{"/dev", "/proc"})))
}

// Sees reports whether a file of this machine is perhaps seen in the sandbox under its path.
// It does not look into a directory that takes the place of another one.
func (p Plan) Sees(path string) bool {
	if withinAny(path, p.Hide) {
		return false
	}
	return withinAny(path, p.Write) || withinAny(path, keys(p.Replace)) || p.shows(path)
}

// sorted returns paths without repetitions, each after those above it.
func sorted(paths []string) []string { return slices.Compact(slices.Sorted(slices.Values(paths))) }

func keys(m map[string]string) []string { return slices.Collect(maps.Keys(m)) }

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func withinAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(path, dir) })
}

// real returns a path without symbolic links, and whether it exists.
func real(path string) (string, bool) {
	r, err := filepath.EvalSymlinks(path)
	return r, err == nil
}
