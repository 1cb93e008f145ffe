package box

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// listeners returns the files of the sockets on which processes take connections, without
// symbolic links. list is the kernel's list of sockets, see unix(7).
func listeners(list string) []string {
	b, err := os.ReadFile(list)
	if err != nil {
		return nil
	}
	const accepts = "00010000"
	var found []string
	for line := range strings.Lines(string(b)) {
		// Num RefCount Protocol Flags Type St Inode Path
		_, path, named := strings.Cut(line, " /")
		fields := strings.Fields(line)
		if !named || len(fields) < 8 || fields[3] != accepts {
			continue
		}
		path = "/" + strings.TrimSuffix(path, "\n")
		if fi, err := os.Lstat(path); err != nil || fi.Mode()&fs.ModeSocket == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, real)
		}
	}
	return found
}

// isShown reports whether the options of bubblewrap show a path to the worker without letting
// it write there: the last one about a directory above it counts.
func isShown(wrap []string, path string) bool {
	shown := false
	for i := 0; i < len(wrap); i++ {
		at, values := "", 1
		switch wrap[i] {
		case "--bind", "--ro-bind", "--ro-bind-try", "--dev-bind":
			values = 2
		case "--tmpfs", "--dev", "--proc", rundir.WrapHide:
		default:
			continue
		}
		if i+values >= len(wrap) {
			return shown
		}
		if at = wrap[i+values]; isBelow(path, at) {
			shown = values == 2 && wrap[i] != "--bind"
		}
		i += values
	}
	return shown
}

// isBelow reports whether a path is a directory or in it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
