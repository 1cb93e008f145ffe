package box

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A sandbox mounts directories in which other sandboxed workers may exchange names at any time,
// and bubblewrap finds them by their names. So the shim opens each of them without following a
// symbolic link, and keeps them open while bubblewrap works. The first process in the sandbox
// then compares: every mount there is one of the sandbox or of the machine, and each has the
// directory that the shim has open at its root. Nothing of the worker runs before that.

// exchanged ends the reason of a sandbox that was not made for that.
const exchanged = " was exchanged while the sandbox was made"

// held is a file or directory that is open and is to be mounted.
type held struct {
	// at is where the sandbox has it.
	at       string
	fd       int
	dev, ino uint64
	// try says that it may be missing.
	try bool
}

// mounts are the mounts that a sandbox has.
type mounts struct {
	held []held
	// at are the places of all other mounts.
	at []string
}

// Close closes what is held.
func (m *mounts) Close() {
	for _, h := range m.held {
		_ = unix.Close(h.fd)
	}
}

// hold opens what the options of bubblewrap mount.
func hold(args []string) (_ *mounts, err error) {
	m := &mounts{}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	var own []string
	for _, mount := range mountList() {
		own = append(own, mount.at)
	}
	m.at = append(m.at, own...)
	for i := 0; i < len(args); i++ {
		switch op := args[i]; op {
		case "--":
			return m, nil
		case "--tmpfs", "--dev", "--proc":
			if i+1 < len(args) {
				m.at = append(m.at, args[i+1])
			}
			i++
		case "--bind", "--ro-bind", "--ro-bind-try":
			if i+2 >= len(args) {
				return nil, failure(op+" has no path", nil)
			}
			source, at := args[i+1], args[i+2]
			i += 2
			if at == "/" {
				continue
			}
			// Mounts below it come along.
			for _, point := range own {
				if isBelow(point, source) && point != source {
					m.at = append(m.at, at+strings.TrimPrefix(point, strings.TrimSuffix(source, "/")))
				}
			}
			try := op == "--ro-bind-try"
			h, err := holdOne(source)
			switch {
			case err == nil:
				h.at, h.try = at, try
				m.held = append(m.held, h)
			case try && errors.Is(err, unix.ENOENT):
				m.at = append(m.at, at) // it may appear
			default:
				return nil, failure(source+" is not what it was when the worker was spawned", nil)
			}
		}
	}
	return m, nil
}

// holdOne opens a path without following symbolic links.
func holdOne(path string) (h held, err error) {
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	h.fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		h.fd, err = walk(path, flags) // an old kernel, or a container that does not know the call
	}
	if err != nil {
		return h, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(h.fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = unix.ELOOP
	}
	if err != nil {
		_ = unix.Close(h.fd)
		return h, err
	}
	h.dev, h.ino = st.Dev, st.Ino
	return h, nil
}

// walk opens an absolute path part by part.
func walk(path string, flags int) (int, error) {
	fd, err := unix.Open("/", flags|unix.O_DIRECTORY, 0)
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if err != nil || part == "" {
			break
		}
		var next int
		next, err = unix.Openat(fd, part, flags, 0) // a link is opened itself, and is not a directory
		_ = unix.Close(fd)
		fd = next
	}
	return fd, err
}

// mount is a line of the kernel's list of mounts, see proc(5).
type mount struct{ id, at string }

func mountList() []mount {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var list []mount
	for line := range strings.Lines(string(b)) {
		// id parent device root place options …
		if fields := strings.Fields(line); len(fields) > 5 {
			list = append(list, mount{fields[0], unescape(fields[4])})
		}
	}
	return list
}

// unescape undoes how the kernel writes the characters of paths that separate fields and lines.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// words returns the mounts as words of the payload.
func (m *mounts) words() []string {
	words := []string{strconv.Itoa(len(m.held)), strconv.Itoa(len(m.at))}
	for _, h := range m.held {
		words = append(words, strconv.FormatUint(h.dev, 10)+" "+strconv.FormatUint(h.ino, 10)+" "+strconv.FormatBool(h.try)+" "+h.at)
	}
	return append(words, m.at...)
}

// parseMounts is the inverse of words; it returns the words that follow.
func parseMounts(words []string) (m mounts, rest []string, ok bool) {
	if len(words) < 2 {
		return m, nil, false
	}
	held1, err1 := strconv.Atoi(words[0])
	others, err2 := strconv.Atoi(words[1])
	words = words[2:]
	if err1 != nil || err2 != nil || held1 < 0 || others < 0 || held1 > len(words) || others > len(words)-held1 {
		return m, nil, false
	}
	for _, word := range words[:held1] {
		parts := strings.SplitN(word, " ", 4)
		if len(parts) != 4 {
			return m, nil, false
		}
		h := held{at: parts[3], try: parts[2] == "true"}
		h.dev, err1 = strconv.ParseUint(parts[0], 10, 64)
		h.ino, err2 = strconv.ParseUint(parts[1], 10, 64)
		if err1 != nil || err2 != nil {
			return m, nil, false
		}
		m.held = append(m.held, h)
	}
	m.at = words[held1 : held1+others]
	return m, words[held1+others:], true
}

// verify compares the mounts of this process with those that the sandbox is to have. Each held
// one is looked at by its mount: its name may be another directory by now.
func (m *mounts) verify() error {
	seen := map[string]bool{}
	for _, h := range slices.Backward(m.held) { // a later mount may cover an earlier one
		fd, err := unix.Open(h.at, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			if h.try && errors.Is(err, unix.ENOENT) {
				continue
			}
			return &unmade{h.at + exchanged}
		}
		var st unix.Stat_t
		err = unix.Fstat(fd, &st)
		id := mountOf(fd)
		_ = unix.Close(fd)
		if err != nil || id == "" || st.Dev != h.dev || st.Ino != h.ino {
			return &unmade{h.at + exchanged}
		}
		seen[id] = true
	}
	list := mountList()
	if list == nil {
		return &unmade{"the mounts can't be read"}
	}
	for _, mount := range list {
		switch {
		case mount.at == "/", isBelow(mount.at, "/dev"), isBelow(mount.at, "/proc"), seen[mount.id], slices.Contains(m.at, mount.at):
		default:
			return &unmade{mount.at + exchanged}
		}
	}
	return nil
}

// mountOf returns the id of the mount that a descriptor is on; empty if it is unknown.
func mountOf(fd int) string {
	b, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}
