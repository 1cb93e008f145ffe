//go:build linux

package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// limit is how long anything here may take; none of it takes a tenth of that.
const limit = 30 * time.Second

// The real program, and one that dies at a named point.
var shimPath, failingPath string

func TestMain(m *testing.M) {
	if os.Getenv(envHelper) != "" {
		os.Exit(help())
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "swarm-shim-test")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shimPath, failingPath = filepath.Join(dir, "swarm-shim"), filepath.Join(dir, "failing-shim")
	build := func(args ...string) {
		cmd := exec.Command("go", append([]string{"build"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	const pkg = "github.com/swarmhost/swarm/cmd/swarm-shim"
	build("-o", shimPath, pkg)
	build("-tags", "shimfail", "-o", failingPath, pkg)
	return m.Run()
}

// shim is one running shim and what a client sees of it.
type shim struct {
	t    *testing.T
	dir  string
	work string
	cmd  *exec.Cmd
	// mark is a variable that every process of the worker has.
	mark string
	done chan struct{}
}

// options change how a shim is started.
type options struct {
	program string
	env     []string
	dir     string
	// content is that of the launch file, if not the right one.
	content []byte
	prepare func(*exec.Cmd)
}

// launch returns what most tests start: a shell script.
func launch(script string) rundir.Launch {
	return rundir.Launch{Command: []string{"sh", "-c", script}, GraceMS: 2000, Force: true}
}

// start starts a shim and fails the test if its worker does not start.
func start(t *testing.T, l rundir.Launch, o options) *shim {
	t.Helper()
	s, line := tryStart(t, l, o)
	if line != "ok" {
		t.Fatalf("the shim says %q", line)
	}
	return s
}

// tryStart returns the line that the shim says when it is ready.
func tryStart(t *testing.T, l rundir.Launch, o options) (*shim, string) {
	t.Helper()
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	if o.program == "" {
		o.program = shimPath
	}
	s := &shim{t: t, dir: o.dir, work: t.TempDir(), done: make(chan struct{})}
	s.mark = "SWARM_TEST_MARK=" + s.work
	if l.ID == "" {
		l.ID = "w1"
	}
	if l.Dir == "" {
		l.Dir = s.work
	}
	l.Env = append([]string{"PATH=" + os.Getenv("PATH"), s.mark}, l.Env...)
	b, err := rundir.EncodeLaunch(l)
	must(t, err)
	if o.content != nil {
		b = o.content
	}
	must(t, os.WriteFile(filepath.Join(s.dir, rundir.LaunchFile), b, 0o600))
	fifo := filepath.Join(s.dir, rundir.ReadyFIFO)
	must(t, unix.Mkfifo(fifo, 0o600))
	fd, err := unix.Open(fifo, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	must(t, err)
	ready := os.NewFile(uintptr(fd), fifo)
	defer ready.Close()

	s.cmd = exec.Command(o.program, s.dir)
	s.cmd.Env = append(rundir.ShimEnv(l.ID), o.env...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if o.prepare != nil {
		o.prepare(s.cmd)
	}
	must(t, s.cmd.Start())
	t.Cleanup(s.stop)
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	return s, s.readLine(ready)
}

// readLine waits for the ready line, or for the end of a shim that says nothing.
func (s *shim) readLine(ready *os.File) string {
	s.t.Helper()
	var line []byte
	s.until("the shim says something", func() bool {
		var buf [4096]byte
		n, _ := ready.Read(buf[:])
		line = append(line, buf[:max(n, 0)]...)
		select {
		case <-s.done:
			n, _ := ready.Read(buf[:])
			line = append(line, buf[:max(n, 0)]...)
			return true
		default:
			return bytes.HasSuffix(line, []byte("\n"))
		}
	})
	return strings.TrimSuffix(string(line), "\n")
}

// stop ends whatever is left, by identity, whatever the test did to it.
func (s *shim) stop() {
	for range 50 {
		left := s.left()
		select {
		case <-s.done:
			if len(left) == 0 {
				return
			}
		default:
		}
		for _, p := range left {
			_ = p.Signal(unix.SIGKILL)
		}
		pause := time.After(100 * time.Millisecond) // a killed process may take a moment to end
		select {
		case <-s.done:
			<-pause
		case <-pause:
			if len(left) == 0 {
				_ = s.cmd.Process.Kill()
			}
		}
	}
	s.t.Errorf("still there after the test: %v", s.left())
}

// left returns the worker's processes, found without the shim's help.
func (s *shim) left() []proc.Process {
	name, value, _ := strings.Cut(s.mark, "=")
	found, err := proc.Find(func(p proc.Process) bool {
		v, ok := proc.Getenv(p.PID, name)
		return ok && v == value
	})
	if err != nil {
		s.t.Error(err)
	}
	return found
}

func (s *shim) wantNothingLeft() {
	s.t.Helper()
	if left := s.left(); len(left) > 0 {
		s.t.Errorf("still alive: %+v", left)
	}
}

// status reads status.json as strictly as can be.
func (s *shim) status() rundir.Status {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, rundir.StatusFile))
	must(s.t, err)
	var st rundir.Status
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	must(s.t, d.Decode(&st))
	return st
}

// end waits for the shim to leave and returns the last status.
func (s *shim) end() rundir.Status {
	s.t.Helper()
	s.leaves()
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the shim left with %d", code)
	}
	st := s.status()
	if st.State != rundir.StateEnded {
		s.t.Errorf("state %q after the shim left", st.State)
	}
	if _, err := os.Lstat(filepath.Join(s.dir, rundir.Socket)); !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("the socket outlived its shim: %v", err)
	}
	return st
}

func (s *shim) leaves() {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(limit):
		s.t.Fatalf("the shim does not leave; still alive: %+v", s.left())
	}
}

// dial connects to the control socket, whose path may be too long for that.
func (s *shim) dial() net.Conn {
	s.t.Helper()
	d, err := os.Open(s.dir)
	must(s.t, err)
	defer d.Close()
	var c net.Conn
	// A crowd fills the queue for a moment.
	s.until("the socket has space", func() bool {
		c, err = net.Dial("unix", "/proc/self/fd/"+strconv.Itoa(int(d.Fd()))+"/"+rundir.Socket)
		return !errors.Is(err, unix.EAGAIN)
	})
	must(s.t, err)
	must(s.t, c.SetDeadline(time.Now().Add(limit)))
	s.t.Cleanup(func() { c.Close() })
	return c
}

// send sends a request and returns what its answer is read from.
func (s *shim) send(request string) *bufio.Reader {
	s.t.Helper()
	c := s.dial()
	_, err := io.WriteString(c, request+"\n")
	must(s.t, err)
	return bufio.NewReader(c)
}

// ask returns all lines of an answer.
func (s *shim) ask(request string) []string {
	s.t.Helper()
	b, err := io.ReadAll(s.send(request))
	must(s.t, err)
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// kill asks for an end and returns the last line of the answer.
func (s *shim) kill(signal string, grace time.Duration, force bool) rundir.Answer {
	s.t.Helper()
	lines := s.ask(killLine(signal, grace, force))
	if lines[0] != rundir.AnswerAccepted || len(lines) != 2 {
		s.t.Fatalf("answer to kill: %q", lines)
	}
	a, err := rundir.ParseAnswer(lines[1])
	must(s.t, err)
	return a
}

func killLine(signal string, grace time.Duration, force bool) string {
	return rundir.Request{Verb: rundir.VerbKill, Signal: signal, GraceMS: grace.Milliseconds(), Force: force}.String()
}

// until waits for a condition that nothing reports.
func (s *shim) until(what string, ok func() bool) {
	s.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(limit)
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout:
			s.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// says waits until the worker has written a line.
func (s *shim) says(line string) {
	s.t.Helper()
	s.until("the worker says "+line, func() bool { return strings.Contains(s.text("stdout")+"\n", line+"\n") })
}

// record is one line of the log.
type record struct {
	stream, tag, text string
	at                time.Time
}

// records reads the whole log, the oldest first.
func (s *shim) records() []record {
	s.t.Helper()
	var all []record
	for i := rundir.Segments - 1; i >= 0; i-- {
		name := filepath.Join(s.dir, rundir.LogFile)
		if i > 0 {
			name += "." + strconv.Itoa(i)
		}
		b, err := readLines(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		must(s.t, err)
		for line := range bytes.Lines(b) {
			all = append(all, parse(s.t, string(line)))
		}
	}
	return all
}

// readLines reads a file of lines. A read during a write may end in the middle of a line:
// it is then repeated.
func readLines(name string) ([]byte, error) {
	for tries := 0; ; tries++ {
		b, err := os.ReadFile(name)
		if err != nil || len(b) == 0 || b[len(b)-1] == '\n' || tries == 1000 {
			return b, err
		}
	}
}

func parse(t *testing.T, line string) record {
	t.Helper()
	line, ok := strings.CutSuffix(line, "\n")
	f := strings.SplitN(line, " ", 4)
	if !ok || len(f) != 4 || f[2] != "P" && f[2] != "F" {
		t.Fatalf("not a record: %.100q", line)
	}
	at, err := time.Parse(time.RFC3339Nano, f[0])
	if err != nil || len(f[0]) != len("2006-01-02T15:04:05.000000000Z") {
		t.Fatalf("not a time with nine digits: %.100q", line)
	}
	return record{stream: f[1], tag: f[2], text: f[3], at: at}
}

// text puts one stream together again.
func (s *shim) text(stream string) string {
	s.t.Helper()
	var b strings.Builder
	for _, r := range s.records() {
		if r.stream == stream {
			b.WriteString(r.text)
			if r.tag == "F" {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
