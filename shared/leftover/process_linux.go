package leftover

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Of returns the living processes, other than this one, that have the directory in their
// environment or arguments, or work in it.
func Of(dir string) []Process { return find(dir, false) }

// inside adds the processes to [Of] whose root is mounted from the directory: containers.
func inside(dir string) []Process { return find(dir, true) }

func find(dir string, roots bool) (found []Process) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	own := []byte(dir)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		at := filepath.Join("/proc", e.Name())
		cmdline, _ := os.ReadFile(filepath.Join(at, "cmdline"))
		if len(cmdline) == 0 { // of the kernel, or a zombie
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(at, "environ"))
		if !mentions(environ, own) && !mentions(cmdline, own) {
			cwd, _ := os.Readlink(filepath.Join(at, "cwd"))
			if !mentions([]byte(cwd), own) && (!roots || !mentions(rootMount(at), own)) {
				continue
			}
		}
		found = append(found, Process{
			PID: pid, Command: strings.TrimSpace(string(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))), environ: string(environ),
		})
	}
	return found
}

func mentions(text, dir []byte) bool {
	for {
		i := bytes.Index(text, dir)
		if i < 0 {
			return false
		}
		text = text[i+len(dir):]
		if len(text) == 0 || text[0] == '/' || text[0] == 0 {
			return true
		}
	}
}

func hasVariable(environ, name string) bool {
	return strings.HasPrefix(environ, name+"=") || strings.Contains(environ, "\x00"+name+"=")
}

// rootMount returns the fields of the line about what is mounted at the root of a process, with
// the options of an overlay, each ended by NUL.
func rootMount(at string) []byte {
	mounts, _ := os.ReadFile(filepath.Join(at, "mountinfo"))
	for line := range bytes.Lines(mounts) {
		if f := bytes.Fields(line); len(f) > 4 && string(f[4]) == "/" {
			return bytes.Map(func(r rune) rune {
				if strings.ContainsRune(" ,:\n", r) {
					return 0
				}
				return r
			}, line)
		}
	}
	return nil
}

func unmount(dir string) {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	var points []string
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], dir+"/") {
			points = append(points, f[4])
		}
	}
	slices.Reverse(points)
	for _, point := range points {
		_ = unix.Unmount(point, unix.MNT_DETACH)
	}
}
