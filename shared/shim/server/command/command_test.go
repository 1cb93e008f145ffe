package command

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/fdpass"
)

// TestMain makes the test binary the program that runs in the place of the host.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == rundir.ExecArg {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// shim is the other end of the socket.
type shim struct {
	t    *testing.T
	dir  string
	from *net.UnixListener
}

func newShim(t *testing.T) *shim {
	t.Helper()
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, rundir.Socket)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &shim{t: t, dir: dir, from: l}
}

// program returns the program that runs ls.
func (s *shim) program() *exec.Cmd {
	s.t.Helper()
	args, err := rundir.ExecArgs(s.dir, "w", rundir.Exec{Command: []string{"ls"}, Env: []string{"A=b"}})
	if err != nil {
		s.t.Fatal(err)
	}
	return exec.Command(os.Args[0], args...)
}

// accept takes the request and the command of the program, and returns the connection and the streams.
func (s *shim) accept() (*net.UnixConn, *fdpass.Files) {
	s.t.Helper()
	conn, err := s.from.AcceptUnix()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	line, err := bufio.NewReader(conn).ReadString('\n')
	r, parseErr := rundir.ParseRequest(strings.TrimSuffix(line, "\n"))
	if err = errors.Join(err, parseErr); err != nil || r.Verb != rundir.VerbExec || r.ID != "w" {
		s.t.Fatalf("the request is %q: %v", line, err)
	}
	_, _ = io.WriteString(conn, "ready\n")
	message := make([]byte, r.Size)
	raw, err := conn.SyscallConn()
	if err != nil {
		s.t.Fatal(err)
	}
	var files *fdpass.Files
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		files, failed = fdpass.Receive(int(fd), message)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err = errors.Join(err, failed); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, message[1:]); err != nil {
		s.t.Fatal(err)
	}
	if e, err := rundir.DecodeExec(message); err != nil || e.Command[0] != "ls" || e.Env[0] != "A=b" || e.Terminal {
		s.t.Fatalf("the command is %+v, %v", e, err)
	}
	return conn, files
}

// TestAnswers checks what the program makes of the answers of a shim.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct {
		code int
		says string
	}{
		"exit 3\n":                      {3, ""},
		"exit 143\n":                    {143, ""},
		"error command not found: ls\n": {127, "command not found: ls"},
		"error permission denied: ls\n": {126, "permission denied: ls"},
		"error unknown request; this shim speaks protocol 1\n": {125, "this shim speaks protocol 1"},
		"busy it is paused\n":                {125, "it is paused"},
		"stale\n":                            {125, "is another worker's"},
		"ended forced=0 already=1 signal=\n": {125, "the worker has ended"},
		"nonsense\n":                         {126, "unknown answer"},
		"":                                   {125, "shim has ended"},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			s := newShim(t)
			cmd := s.program()
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			conn, files := s.accept()
			_, err := unix.Write(files[1], []byte("listed"))
			files.Close()
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != want.code || out.String() != "listed" {
				t.Errorf("exit code %d, output %q", code, &out)
			}
			if want.says == "" && errs.Len() > 0 || !strings.Contains(errs.String(), want.says) {
				t.Errorf("it says %q", &errs)
			}
		})
	}
}

// TestNoShim runs the program where no shim listens.
func TestNoShim(t *testing.T) {
	t.Parallel()
	s := newShim(t)
	_ = s.from.Close()
	out, _ := s.program().CombinedOutput()
	if want := "swarm: error: cannot exec: the worker has ended\n"; string(out) != want {
		t.Errorf("it says %q", out)
	}
}

// TestHangUp checks that the program ends with the reader of its output only if it is to.
func TestHangUp(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{true, false} {
		s := newShim(t)
		cmd := s.program()
		if hangs {
			cmd.Env = append(os.Environ(), rundir.EnvHangUp+"=1")
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		conn, files := s.accept()
		files.Close()
		_ = r.Close()
		want := 129
		if !hangs {
			_, _ = io.WriteString(conn, "exit 0\n")
			want = 0
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("hangs up: %v: exit code %d", hangs, code)
		}
	}
}
