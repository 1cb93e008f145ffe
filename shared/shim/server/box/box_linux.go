package box

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/program"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The descriptors of bubblewrap and of the first process: the worker's standard streams come
// after those of bubblewrap.
const (
	fdStreams = 3
	fdConn    = 6
	fdProgram = 7
	fdAfter   = 8
)

// The words of the first process, each with its value and a newline, and the answer to the
// first one.
const (
	sayStarted = "started "
	sayError   = "error "
	sayExit    = "exit "
	sayGo      = "go\n"
	// sayBegun, sayFailed and sayEnded are about commands, whose number comes first.
	sayBegun  = "begun "
	sayFailed = "failed "
	sayEnded  = "ended "
)

// The exit codes of the first process. No program reads them.
const (
	exitDone   = 0
	exitFailed = 1
)

// startLimit is how long a start may take. A machine under load takes a while.
const startLimit = 30 * time.Second

// maxSaid is how much bubblewrap may say when it fails.
const maxSaid = 1000

// maxTries is how often a sandbox is tried whose hidden paths vanish meanwhile.
const maxTries = 5

// Start makes the sandbox and starts the main process in it. bubblewrap can't hide a path
// that has vanished by the time it gets there, such as the socket of a program that has just
// ended; then the start is tried again without that path. Nor can it make a mount read-only
// that is gone by then, such as a mount of a container that has just ended.
func Start(s Spec) (*Box, proc.Identity, error) {
	wrap, err := wrapArgs(s.Wrap)
	if err != nil {
		return nil, proc.Identity{}, err
	}
	for try := 1; ; try++ {
		b, main, err := s.start(wrap)
		if _, ok := errors.AsType[*unmade](err); !ok || try == maxTries {
			return b, main, err
		}
		now, changed := wrapArgs(s.Wrap)
		// The next try finds out whether a directory that was exchanged meanwhile is there again.
		isExchanged := strings.HasSuffix(err.Error(), exchanged)
		if changed != nil || slices.Equal(now, wrap) && !isMountGone(err) && !isExchanged {
			return nil, main, err
		}
		wrap = now
	}
}

// isMountGone reports whether bubblewrap failed because a mount vanished while it examined all
// of them.
func isMountGone(err error) bool {
	text := err.Error()
	return strings.Contains(text, "remount") &&
		(strings.HasSuffix(text, "No such file or directory") || strings.HasSuffix(text, "Invalid argument"))
}

// start is one attempt, with a command line of bubblewrap.
func (s Spec) start(wrap []string) (_ *Box, main proc.Identity, err error) {
	mounts, err := hold(wrap)
	if err != nil {
		return nil, main, err
	}
	defer mounts.Close()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, main, os.NewSyscallError("socketpair", err)
	}
	_ = unix.SetNonblock(ends[0], true)
	conn, theirs := os.NewFile(uintptr(ends[0]), "sandbox"), os.NewFile(uintptr(ends[1]), "sandbox")
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	said, say, err := os.Pipe()
	if err != nil {
		theirs.Close()
		return nil, main, err
	}
	defer said.Close()
	null, nullErr := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	self, selfErr := os.Open("/proc/self/exe") // even if its file was replaced meanwhile
	given := []*os.File{theirs, say, null, self}
	drop := func() {
		for _, f := range given {
			if f != nil {
				f.Close()
			}
		}
	}
	if err := errors.Join(nullErr, selfErr); err != nil {
		drop()
		return nil, main, err
	}
	if err := program.Executable(s.Wrap[0], s.Wrap[0]); err != nil {
		drop()
		return nil, main, failure("", err)
	}
	argv := slices.Clip(wrap)
	if s.Terminal {
		// Programs that look for the name of their terminal find this one.
		terminal, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(s.Streams[0])))
		argv = append(argv, "--dev-bind-try", terminal, "/dev/console")
	}
	argv = append(argv, hideKeys()...)
	argv = append(argv, "--", "/proc/self/fd/"+strconv.Itoa(fdProgram), Arg)
	outer := &syscall.ProcAttr{
		Dir: "/",
		Env: []string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", swarm.EnvWorkerID + "=" + s.ID,
			rundir.OneProcessor + "=" + rundir.OneProcessorValue,
		},
		Files: []uintptr{null.Fd(), null.Fd(), say.Fd(), s.Streams[0], s.Streams[1], s.Streams[2], theirs.Fd(), self.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	pid, err := s.Fork(s.Wrap[0], argv, outer)
	drop()
	if err != nil {
		return nil, main, err
	}
	b := &Box{conn: conn, Over: make(chan struct{}), Said: make(chan struct{}, 1)}
	main, err = b.begin(pid, s.payload(mounts))
	if err != nil {
		// The first process ends when it finds the connection closed, and all others with it.
		conn.Close()
		_ = unix.Kill(pid, unix.SIGKILL)
		await(pid)
		if b.Init.PID != 0 {
			_ = b.Init.Signal(unix.SIGKILL)
		}
		if !errors.Is(err, errSilent) {
			return nil, main, err
		}
		_ = said.SetReadDeadline(time.Now().Add(time.Second))
		buf := make([]byte, maxSaid)
		n, _ := io.ReadFull(said, buf)
		return nil, main, failure(string(buf[:n]), nil)
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	await(pid)
	go b.listen()
	return b, main, nil
}

// await reaps bubblewrap, which was killed. Its child, the first process in the sandbox, is the
// caller's from then on: while bubblewrap ends, a look at the caller's descendants misses it.
func await(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// payload returns the message to the first process: its length, then each entry ended by NUL.
func (s Spec) payload(m *mounts) []byte {
	var b []byte
	add := func(word string) { b = append(append(b, word...), 0) }
	for _, word := range m.words() {
		add(word)
	}
	add(strconv.FormatBool(s.Terminal))
	add(strconv.Itoa(len(s.Command)))
	for _, arg := range s.Command {
		add(arg)
	}
	for _, kv := range environ.Unset(s.Env, outside...) {
		add(kv)
	}
	return append([]byte(strconv.Itoa(len(b))+"\n"), b...)
}

// errSilent means that the first process ended, or failed, before it could answer.
var errSilent = errors.New("no answer from the sandbox")

// begin sends the first process what to start and finds the main process that it started. Until
// it gets the word to continue, the first process reaps nothing, so that both still exist.
func (b *Box) begin(bubblewrap int, payload []byte) (main proc.Identity, err error) {
	_ = b.conn.SetDeadline(time.Now().Add(startLimit))
	if _, err := b.conn.Write(payload); err != nil {
		return main, errSilent
	}
	line, err := readLine(b.conn)
	if err != nil {
		return main, errSilent
	}
	if text, ok := strings.CutPrefix(line, sayError); ok {
		if reason, ok := strings.CutPrefix(text, rundir.NoSandbox+": "); ok {
			return main, &unmade{reason}
		}
		return main, errors.New(text)
	}
	number, err := strconv.Atoi(strings.TrimPrefix(line, sayStarted))
	if err != nil {
		return main, errSilent
	}
	first, err := proc.Children(bubblewrap)
	if err != nil || len(first) != 1 {
		return main, errors.New("can't find the first process of the sandbox")
	}
	b.Init = first[0].Identity
	if main, err = child(b.Init.PID, number); err != nil {
		return main, err
	}
	if _, err := b.conn.WriteString(sayGo); err != nil {
		return main, errSilent
	}
	_ = b.conn.SetDeadline(time.Time{})
	return main, nil
}

// child returns the child of a process that has a number in its own namespace. It may have
// ended.
func child(parent, number int) (proc.Identity, error) {
	tids, err := os.ReadDir("/proc/" + strconv.Itoa(parent) + "/task")
	if err != nil {
		return proc.Identity{}, err
	}
	for _, tid := range tids {
		pids, err := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/task/" + tid.Name() + "/children")
		if err != nil {
			return proc.Identity{}, err
		}
		for word := range strings.FieldsSeq(string(pids)) {
			pid, err := strconv.Atoi(word)
			if err == nil && innerNumber(word) == strconv.Itoa(number) {
				return proc.Identify(pid)
			}
		}
	}
	return proc.Identity{}, errors.New("can't find the worker in its sandbox")
}

// innerNumber is the number of a process in its own namespace.
func innerNumber(pid string) string {
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(b) {
		if numbers, ok := bytes.CutPrefix(line, []byte("NSpid:")); ok {
			fields := bytes.Fields(numbers)
			if len(fields) > 0 {
				return string(fields[len(fields)-1])
			}
		}
	}
	return ""
}

// readLine reads a line byte by byte, and nothing after it.
func readLine(f *os.File) (string, error) {
	var line []byte
	var c [1]byte
	for len(line) < rundir.MaxLine {
		if _, err := f.Read(c[:]); err != nil {
			return "", err
		}
		if c[0] == '\n' {
			return string(line), nil
		}
		line = append(line, c[0])
	}
	return "", errSilent
}

// Inside is the first process in a sandbox: the one that runs with [Arg]. It returns its exit
// code.
func Inside() int {
	// Limits of this thread hold for the process that it forks.
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1)
	// It was started by the number of a descriptor.
	name := [16]byte{'s', 'w', 'a', 'r', 'm', '-', 's', 'a', 'n', 'd', 'b', 'o', 'x'}
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
	// A caught signal does nothing here, and has its default in the worker.
	signal.Notify(make(chan os.Signal, 1))
	for fd := fdStreams; fd <= fdProgram; fd++ {
		unix.CloseOnExec(fd)
	}
	_ = unix.Close(fdProgram)
	_ = unix.SetNonblock(fdConn, true)
	conn := os.NewFile(fdConn, "shim")
	fail := func(err error) int {
		_, _ = conn.WriteString(sayError + strings.ReplaceAll(err.Error(), "\n", " ") + "\n")
		return exitFailed
	}
	mounts, terminal, argv, env, err := readPayload(conn)
	if err != nil {
		return exitFailed
	}
	if err := mounts.verify(); err != nil {
		return fail(err)
	}
	// The worker runs as the same user. It must not get at this process, whose program is
	// a file outside.
	if unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) != nil {
		return exitFailed
	}
	dir, err := os.Getwd()
	if err != nil {
		return fail(err)
	}
	path, err := program.Find(argv[0], dir, env)
	if err != nil {
		return fail(errors.New(err.Error() + " (in the sandbox)"))
	}
	scopeSockets()
	if err := leaveKeys(); err != nil {
		return fail(&unmade{"the keys of the kernel can't be hidden: " + err.Error()})
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir: dir, Env: env, Files: []uintptr{fdStreams, fdStreams + 1, fdStreams + 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: terminal, Ctty: 0},
	})
	if err != nil {
		return fail(program.StartError(argv[0], err))
	}
	for fd := fdStreams; fd < fdConn; fd++ {
		_ = unix.Close(fd)
	}
	_, _ = conn.WriteString(sayStarted + strconv.Itoa(pid) + "\n")
	if line, err := readLine(conn); err != nil || line+"\n" != sayGo {
		return exitFailed // no shim knows of the worker
	}
	return supervise(conn, pid, dir)
}

// readPayload reads what to start.
func readPayload(conn *os.File) (m mounts, terminal bool, argv, env []string, err error) {
	line, err := readLine(conn)
	if err != nil {
		return m, false, nil, nil, err
	}
	size, err := strconv.Atoi(line)
	if err != nil || size <= 0 || size > rundir.MaxLaunch {
		return m, false, nil, nil, errSilent
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(bufio.NewReader(conn), b); err != nil {
		return m, false, nil, nil, err
	}
	m, words, ok := parseMounts(strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"))
	if !ok || len(words) < 3 {
		return m, false, nil, nil, errSilent
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 1 || n > len(words)-2 {
		return m, false, nil, nil, errSilent
	}
	return m, words[0] == "true", words[2 : 2+n], words[2+n:], nil
}

// scopeSockets keeps this thread, and what it forks, from connecting to abstract sockets
// outside of the sandbox: those have no file that could be hidden. A kernel before 6.12 has no
// means for that, except for a network of its own.
func scopeSockets() {
	const abstractSockets = 1 // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	ruleset := struct{ fs, net, scoped uint64 }{scoped: abstractSockets}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&ruleset)), unsafe.Sizeof(ruleset), 0)
	if errno != 0 {
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	_ = unix.Close(int(fd))
}
