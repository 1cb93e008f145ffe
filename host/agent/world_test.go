package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
)

// patience is how long anything here may take that must happen soon.
const patience = 2 * time.Minute

// crew is the team of most tests.
const crew = "crew"

// world is a state directory with teams, and what a test does with it.
type world struct {
	*testing.T
	// root holds all of it.
	root string
	env  []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{T: t, root: root, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "TMUX_TMPDIR=" + root, "SHELL=/bin/sh", "TERM=screen", "AGENT_TEST=" + root,
	}}
	t.Cleanup(w.end)
	return w
}

func (w *world) state() string { return filepath.Join(w.root, "s") }

// end ends all that is left, and finds out whether it was to be.
func (w *world) end() {
	// The context of a test has ended when its clean-up runs.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h := w.open(w.person()...)
	if _, err := h.Kill().Kill(ctx, worker.Selection{All: true}, kill.Request{Signal: "SIGKILL"}); err != nil {
		w.Errorf("clean up: %v", err)
	}
	if err := h.Close(); err != nil {
		w.Error(err)
	}
	cmd := exec.CommandContext(ctx, "tmux", "kill-server")
	cmd.Env = w.env
	_ = cmd.Run() // there may be none
	w.wait("everything has ended", func() bool { return len(w.alive()) == 0 })
}

// person is the environment of someone who is in no worker, wherever the tests run.
func (w *world) person() []string { return append(slices.Clone(w.env), "SWARM_SHIM=test") }

func (w *world) open(env ...string) *host.Host {
	w.Helper()
	h, err := host.Open(context.Background(), host.Options{Dir: w.state(), Executable: filepath.Join(bin, "swarm"), Env: env})
	if err != nil {
		w.Fatal(err)
	}
	return h
}

// host returns a host for one more call of a person.
func (w *world) host() *host.Host { return w.hostOf(w.person()...) }

// as returns a host for one more call of the owner of a token.
func (w *world) as(token string) *host.Host {
	return w.hostOf(append(w.person(), "SWARM_TOKEN="+token)...)
}

func (w *world) hostOf(env ...string) *host.Host {
	w.Helper()
	h := w.open(env...)
	w.Cleanup(func() {
		if err := h.Close(); err != nil {
			w.Error(err)
		}
	})
	return h
}

// ok ends the test for an error.
func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// refused wants an error with that text.
func (w *world) refused(want string, err error) {
	w.Helper()
	if err == nil || err.Error() != want {
		w.Errorf("error %q, want %q", text(err), want)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// create makes a team without a server.
func (w *world) create(name string) {
	w.Helper()
	_, err := agent.CreateTeam(w.Context(), w.host(), agent.CreateRequest{TeamName: name})
	w.ok(err)
}

// member is an agent of a test: a shell that carries out each line.
type member struct {
	agent.Spawned
	w     *world
	token string
	// dir is its working directory.
	dir string
	// input is its standard input.
	input *os.File
}

// spawn starts an agent of the crew.
func (w *world) spawn(name, backend string) *member {
	w.Helper()
	return w.spawnIn(crew, name, backend, "")
}

func (w *world) spawnIn(teamName, name, backend string, role registry.Role) *member {
	w.Helper()
	dir, err := os.MkdirTemp(w.root, name)
	w.ok(err)
	script := filepath.Join(dir, "script")
	out, err := exec.CommandContext(w.Context(), "mkfifo", script).CombinedOutput()
	if err != nil {
		w.Fatalf("mkfifo: %v\n%s", err, out)
	}
	m := &member{w: w, dir: dir}
	// For reading too, so that its end never comes.
	m.input, err = os.OpenFile(script, os.O_RDWR, 0)
	w.ok(err)
	w.Cleanup(func() { _ = m.input.Close() })
	m.Spawned, err = agent.Spawn(w.Context(), w.host(), agent.SpawnRequest{
		Team: teamName, Name: name, Role: role, Model: "m1", Dir: dir, Backend: backend, Command: []string{"/bin/sh", script},
	})
	w.ok(err)
	if backend != "stubborn" {
		m.run("echo $SWARM_TOKEN > token.new; mv token.new token")
		m.token = strings.TrimSpace(m.file("token"))
	}
	return m
}

// run has the agent run a line.
func (m *member) run(line string) {
	m.w.Helper()
	_, err := m.input.WriteString(line + "\n")
	m.w.ok(err)
}

// file returns the content of a file in the agent's directory, once it is there.
func (m *member) file(name string) string {
	m.w.Helper()
	var b []byte
	m.w.wait(name+" is there", func() bool {
		var err error
		b, err = os.ReadFile(filepath.Join(m.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.w.Fatal(err)
		}
		return err == nil
	})
	return string(b)
}

// call has the agent make a call from inside its worker, and returns the answer.
func (m *member) call(c call) answer {
	m.w.Helper()
	c.Bin, c.Dir = bin, m.w.state()
	arg, err := json.Marshal(c)
	m.w.ok(err)
	m.run(self(m.w) + " " + asCaller + " '" + string(arg) + "' > answer")
	// The agent that is notified of its end may not be there to confirm that.
	path := filepath.Join(m.dir, "answer")
	var b []byte
	m.w.wait("there is an answer", func() bool {
		b, err = os.ReadFile(path)
		return err == nil && bytes.HasSuffix(b, []byte("\n"))
	})
	var a answer
	m.w.ok(json.Unmarshal(b, &a))
	m.w.ok(os.Remove(path))
	return a
}

// self is the path of this program.
func self(w *world) string {
	path, err := os.Executable()
	w.ok(err)
	return path
}

func (w *world) kill(who string, force bool) (agent.Killed, error) {
	w.Helper()
	return agent.Kill(w.Context(), w.host(), agent.KillRequest{TeamName: crew, AgentID: who, Force: force, Reason: "enough"})
}

// status returns how an agent of the crew is.
func (w *world) status(who string) agent.Agent {
	w.Helper()
	s, err := agent.Status(w.Context(), w.host(), agent.StatusRequest{TeamName: crew, AgentID: who})
	w.ok(err)
	if len(s.Agents) != 1 {
		w.Fatalf("status of %s: %+v", who, s)
	}
	return s.Agents[0]
}

// is wants an agent of the crew to have a status.
func (w *world) is(who string, want registry.AgentStatus) {
	w.Helper()
	if got := w.status(who).Status; got != want {
		w.Errorf("%s is %s, want %s", who, got, want)
	}
}

// task gives an agent a task that it works on.
func (m *member) task(title string) string {
	m.w.Helper()
	var id string
	m.change(func(ctx context.Context, tx *registry.Tx, c team.Caller) error {
		t, err := team.CreateTask(ctx, tx, c, crew, team.NewTask{Title: title}, time.Now())
		if err != nil {
			return err
		}
		id = team.TaskID(t.N)
		_, err = team.ClaimTask(ctx, tx, c, crew, id, time.Now())
		return err
	})
	return id
}

// change makes a change as the agent.
func (m *member) change(f func(context.Context, *registry.Tx, team.Caller) error) {
	m.w.Helper()
	m.w.change(m.w.as(m.token), f)
}

// change makes a change as the caller of a host.
func (w *world) change(h *host.Host, f func(context.Context, *registry.Tx, team.Caller) error) {
	w.Helper()
	caller, err := h.Callers().Caller(w.Context())
	w.ok(err)
	w.ok(h.Store().Change(w.Context(), func(ctx context.Context, tx *registry.Tx) error { return f(ctx, tx, caller) }))
}

// inbox returns what is new in the inbox of a host's caller, as "type from: body".
func (w *world) inbox(h *host.Host) []registry.Message {
	w.Helper()
	var in team.Inbox
	w.change(h, func(ctx context.Context, tx *registry.Tx, c team.Caller) (err error) {
		in, err = team.Read(ctx, tx, c, crew, true, time.Now())
		return err
	})
	return in.Messages
}

// gone waits until nothing is left of the process of an agent.
func (m *member) gone() {
	m.w.Helper()
	m.w.wait(m.Name+" is gone", func() bool {
		ws, _, err := m.w.host().Workers(m.w.Context(), worker.Selection{Names: []string{m.Worker}})
		m.w.ok(err)
		return ws[0].Gone()
	})
}

// wait waits for a condition that no one announces.
func (w *world) wait(what string, ok func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.Fatalf("waited in vain until %s", what)
		}
	}
}

// alive returns the processes of this world, shims and tmux among them, found by
// nothing that swarm knows.
func (w *world) alive() []proc.Process {
	ps, err := proc.Find(func(p proc.Process) bool {
		v, ok := proc.Getenv(p.PID, "AGENT_TEST")
		return ok && v == w.root && p.Alive()
	})
	if err != nil {
		w.Error(err)
	}
	return ps
}
