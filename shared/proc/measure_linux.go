package proc

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// looks is how often a tree is read whose processes end meanwhile.
	looks = 3
	// pssMost is the resident memory, in bytes, up to which shared pages are counted in
	// parts: for that the kernel visits every page.
	pssMost = 4 << 30
)

// Measure measures the processes below root, see [Tree], which must be their subreaper.
// The use of root itself does not count. The error is [ErrGone] if root has ended.
func Measure(root Identity, skip func(Process) (bool, error)) (Figures, error) {
	t, err := timed(root, skip)
	if err != nil {
		return Figures{}, err
	}
	return t.measure(root), nil
}

// MeasureCPU is [Measure] of the CPU time and the number of processes, which takes half as
// long.
func MeasureCPU(root Identity, skip func(Process) (bool, error)) (Figures, error) {
	t, err := timed(root, skip)
	if err != nil {
		return Figures{}, err
	}
	f := Figures{CPU: new(t.cpu())}
	for _, p := range t.tree {
		if !p.Ended {
			f.Processes++
		}
	}
	return f, nil
}

// times are the processes below a subreaper, with the CPU times that they had at one moment.
type times struct {
	tree []Process
	// reaped is the CPU time of the processes that the subreaper has reaped; hasReaped says
	// whether there were any.
	reaped    time.Duration
	hasReaped bool
}

func (t times) cpu() time.Duration {
	d := t.reaped
	for _, p := range t.tree {
		d += p.CPU + p.Reaped
	}
	return d
}

// timed reads the processes below root and their CPU times.
func timed(root Identity, skip func(Process) (bool, error)) (t times, err error) {
	for look := range looks {
		parent, err := Read(root.PID)
		if err != nil {
			return times{}, err
		}
		if parent.Start != root.Start || parent.Ended {
			return times{}, ErrGone
		}
		w := walk{root: root.PID, skip: skip, ended: true}
		if w.list, w.err = lister(); w.err == nil {
			w.below(parent)
		}
		if w.err != nil {
			return times{}, w.err
		}
		t = times{w.tree, parent.Reaped, parent.HasReaped}
		// The time of a process that ended between the two reads is in neither of them.
		if look == looks-1 || !slices.ContainsFunc(append(w.tree, parent), hasMoved) {
			break
		}
	}
	return t, nil
}

// hasMoved reports whether a process has ended, or has reaped another one, since it was read.
func hasMoved(p Process) bool {
	now, err := Read(p.PID)
	return err != nil || now.Start != p.Start || now.Reaped != p.Reaped
}

func (t times) measure(root Identity) Figures {
	var f Figures
	var resident, pss, peak int64
	var threads int
	// The threads of a shim are most of what there is to read, and most shims have reaped
	// nothing.
	storage, known := storage{}, true
	if t.hasReaped {
		storage, known = reapedStorage(root)
	}
	for _, p := range t.tree {
		resident += p.Resident
	}
	shared := resident <= pssMost
	for _, p := range t.tree {
		if p.Ended {
			continue
		}
		m, ok := p.look(shared)
		if !ok {
			continue // it has ended
		}
		f.Processes++
		threads += p.Threads
		pss += m.pss
		shared = shared && m.pss >= 0
		peak = max(peak, m.peak)
		storage.add(m.storage)
		known = known && m.storageKnown
	}
	f.CPU, f.Threads = new(t.cpu()), &threads
	f.Memory = &resident
	if shared {
		f.Memory, f.PSS = &pss, true
	}
	f.Peak = &peak
	if known {
		f.Read, f.Written = &storage.read, &storage.written
	}
	return f
}

// storage is what was read from and written to storage.
type storage struct{ read, written int64 }

func (s *storage) add(t storage) {
	s.read += t.read
	s.written += t.written
}

type moment struct {
	// pss is -1 if it can't be read.
	pss, peak    int64
	storage      storage
	storageKnown bool
}

// look reads what a process uses. It returns false if the process has ended: the
// descriptor of its directory leads to no later process with its pid.
func (p Process) look(shared bool) (moment, bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(p.PID), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return moment{}, false
	}
	defer unix.Close(fd)
	var buf [4096]byte
	now, ok := parseStat(readAt(fd, "stat", buf[:]))
	if !ok || now.Start != p.Start {
		return moment{}, false
	}
	m := moment{pss: -1}
	if shared {
		if n, ok := kilobytes(readAt(fd, "smaps_rollup", buf[:]), "Pss:"); ok {
			m.pss = n
		}
	}
	// A process that is about to end has no memory any more.
	m.peak, _ = kilobytes(readAt(fd, "status", buf[:]), "VmHWM:")
	m.storage, m.storageKnown = parseIO(readAt(fd, "io", buf[:]))
	return m, true
}

// readAt returns the beginning of a file of a directory of /proc, nil if it can't be read.
func readAt(dir int, name string, buf []byte) []byte {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, err := read(fd, buf)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// reapedStorage returns what the ended children of a subreaper have read and written, and
// their children: the kernel adds it to that of their parent, whose own threads are
// subtracted.
func reapedStorage(root Identity) (storage, bool) {
	dir := "/proc/" + strconv.Itoa(root.PID)
	var buf [1024]byte
	n, _ := readSome(dir+"/io", buf[:])
	all, ok := parseIO(buf[:max(n, 0)])
	if !ok {
		return storage{}, false
	}
	tids, err := threads(root.PID)
	if err != nil {
		return storage{}, false
	}
	for _, tid := range tids {
		n, _ := readSome(dir+"/task/"+strconv.Itoa(tid)+"/io", buf[:])
		if own, ok := parseIO(buf[:max(n, 0)]); ok {
			all.read -= own.read
			all.written -= own.written
		}
	}
	// The threads continue while they are read.
	return storage{max(all.read, 0), max(all.written, 0)}, true
}

func parseIO(text []byte) (s storage, ok bool) {
	var hasRead, hasWritten bool
	s.read, hasRead = number(text, "\nread_bytes:")
	s.written, hasWritten = number(text, "\nwrite_bytes:")
	return s, hasRead && hasWritten
}

// kilobytes returns the value of a line "Name:  12 kB", in bytes.
func kilobytes(text []byte, name string) (int64, bool) {
	n, ok := number(text, "\n"+name)
	return n << 10, ok
}

func number(text []byte, name string) (int64, bool) {
	at := bytes.Index(text, []byte(name))
	if at < 0 {
		return 0, false
	}
	n, digits := int64(0), 0
	for _, b := range bytes.TrimLeft(text[at+len(name):], " \t") {
		if b < '0' || b > '9' {
			break
		}
		n, digits = n*10+int64(b-'0'), digits+1
	}
	return n, digits > 0 && digits < 19
}
