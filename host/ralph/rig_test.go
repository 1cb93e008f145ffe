package ralph

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/screen"
)

// eventually bounds how long a test waits for something.
const eventually = 30 * time.Second

// rig is a loop named "w" for one test, with a directory for its agent.
type rig struct {
	t     *testing.T
	store Store
	// work is where the agent's files and the prompt are.
	work string
	// dir is the working directory of the loop; empty: work.
	dir string
	// pipes runs the loop on pipes in place of a terminal.
	pipes bool
}

const testPrompt = "Do the next task.\nWhen there is none left, print ALL DONE on a line by itself.\n"

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, store: NewStore(filepath.Join(dir, "s")), work: filepath.Join(dir, "w")}
	r.check(os.Mkdir(r.work, 0o700))
	r.check(os.WriteFile(r.path("PROMPT.md"), []byte(testPrompt), 0o600))
	return r
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) path(name string) string { return filepath.Join(r.work, name) }

// create makes the state of a loop whose agent does these steps.
func (r *rig) create(change func(*State), steps ...string) {
	r.t.Helper()
	st := State{
		Name: "w", Command: append([]string{agentPath, r.work}, steps...), PromptFile: r.path("PROMPT.md"),
		MaxIterations: 50, Status: Running, Started: time.Now(), Iteration: 1, DoneAtOnce: true,
	}
	if change != nil {
		change(&st)
	}
	r.check(r.store.Create(r.t.Context(), st, func() error { return nil }))
}

// process is one run of the loop.
type process struct {
	r        *rig
	cmd      *exec.Cmd
	terminal *pty.Terminal
	stdin    io.WriteCloser
	copied   chan struct{}

	mu  sync.Mutex
	out bytes.Buffer
}

// start runs the loop.
func (r *rig) start() *process {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*eventually)
	p := &process{r: r, copied: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, os.Args[0])
	p.cmd.Env = append(os.Environ(), envLoop+"=w", envDir+"="+r.store.dir)
	p.cmd.Dir = cmp.Or(r.dir, r.work)
	var out io.Reader
	if r.pipes {
		pr, pw, err := os.Pipe()
		r.check(err)
		p.cmd.Stdout, p.cmd.Stderr, out = pw, pw, pr
		p.stdin, err = p.cmd.StdinPipe()
		r.check(err)
		defer pw.Close()
	} else {
		t, err := pty.Open()
		r.check(err)
		p.terminal, out = t, t.Master
		r.check(t.Resize(&unix.Winsize{Row: 30, Col: 100}))
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = t.Inner, t.Inner, t.Inner
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	r.check(p.cmd.Start())
	go p.copy(out)
	r.t.Cleanup(func() {
		// Its tree, and then the process that left that.
		ps, _ := proc.Tree(p.cmd.Process.Pid, func(proc.Process) (bool, error) { return false, nil })
		cancel()
		_ = p.cmd.Wait()
		for _, q := range ps {
			_ = q.Signal(syscall.SIGKILL)
		}
	})
	return p
}

func (p *process) copy(out io.Reader) {
	defer close(p.copied)
	buf := make([]byte, 4096)
	for {
		n, err := out.Read(buf)
		p.mu.Lock()
		p.out.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// raw is what was written, text the same without terminal sequences.
func (p *process) raw() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *process) text() string {
	return string(screen.Text([]byte(p.raw())))
}

// wait waits for the end of the loop and returns its exit code.
func (p *process) wait() int {
	p.r.t.Helper()
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || ok && exit.ExitCode() < 0 {
		p.r.t.Fatalf("the loop ended with %v:\n%s", err, p.text())
	}
	if p.terminal != nil {
		p.terminal.Inner.Close()
	}
	<-p.copied
	return p.cmd.ProcessState.ExitCode()
}

// until waits for a condition.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.NewTimer(eventually)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			r.t.Fatalf("did not happen: %s", what)
		case <-tick.C:
		}
	}
}

// appears waits for output.
func (p *process) appears(pattern string) {
	p.r.t.Helper()
	re := regexp.MustCompile(pattern)
	p.r.until("output "+pattern, func() bool { return re.MatchString(p.text()) })
}

// file waits for a file of the agent and returns what is in it.
func (r *rig) file(name string) string {
	r.t.Helper()
	var b []byte
	r.until("file "+name, func() bool {
		var err error
		b, err = os.ReadFile(r.path(name))
		return err == nil
	})
	return string(b)
}

// dead checks that the process is gone whose pid is in a file of the agent.
func (r *rig) dead(name string) {
	r.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(r.file(name)))
	r.check(err)
	if p, err := proc.Read(pid); err == nil && !p.Ended {
		r.t.Errorf("%s: process %d (%s) is alive", name, pid, p.Name)
	}
}

func (r *rig) touch(name string) { r.check(os.WriteFile(r.path(name), nil, 0o600)) }

func (r *rig) state() State {
	r.t.Helper()
	st, err := r.store.Load("w")
	r.check(err)
	return st
}

func (r *rig) set(status Status) {
	r.t.Helper()
	_, err := r.store.Change(r.t.Context(), "w", func(st *State) error {
		st.Status = status
		return nil
	})
	r.check(err)
}

// events returns the log without its times and durations.
func (r *rig) events() []string {
	r.t.Helper()
	lines, err := r.store.Tail("w", -1)
	r.check(err)
	duration := regexp.MustCompile(` duration=\S.*`)
	for i, line := range lines {
		_, event, _ := strings.Cut(line, " ")
		lines[i] = duration.ReplaceAllString(event, " duration")
	}
	return lines
}

func (r *rig) write(name, text string) { r.check(os.WriteFile(r.path(name), []byte(text), 0o600)) }
