//go:build agents

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
	"github.com/swarmhost/swarm/shared/leftover"
)

// envAgents names the directory with the real agents; .ci/agents prints it.
const envAgents = "SWARM_TEST_AGENTS_DIR"

// Limits for one wait, for one loop, and for one test. A machine with all its processors
// busy draws a screen of opencode in half a minute, and needs as long for one iteration.
const (
	agentWait  = 90 * time.Second
	loopLimit  = 6 * time.Minute
	agentLimit = 8 * time.Minute
)

// lab is where one real agent runs as a worker: a home of its own, a tmux server of its
// own, a project, and a model that the test scripts.
type lab struct {
	t       *testing.T
	client  client
	model   *modelserver.Server
	world   *world
	home    string
	project string
}

// newLab makes a lab for one client. The test ends it.
func newLab(t *testing.T, c client) *lab {
	t.Helper()
	root, err := leftover.MkdirTemp("/tmp", "sw") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, client: c, home: filepath.Join(root, "h"), project: filepath.Join(root, "project")}
	for _, dir := range []string{l.home, l.project, filepath.Join(root, "t"), filepath.Join(root, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l.model = modelserver.Start()
	t.Cleanup(l.model.Close)
	l.world = &world{t: t, root: root, work: l.project, env: append([]string{
		"PATH=" + bin + ":" + os.Getenv(envAgents) + ":" + os.Getenv("PATH"),
		"HOME=" + l.home,
		"SWARM_DIR=" + filepath.Join(root, "s"),
		"TMPDIR=" + filepath.Join(root, "tmp"),
		"TMUX_TMPDIR=" + filepath.Join(root, "t"),
		"SHELL=/bin/sh",
		"TERM=screen",
		"LC_ALL=C.UTF-8",
		// Nothing but the model is reached.
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9",
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}, c.env(l.model.URL)...)}
	l.world.watchdog = time.AfterFunc(agentLimit, func() {
		t.Errorf("the test took more than %v", agentLimit)
		l.world.signalAll(9, nil)
	})
	l.write(filepath.Join(l.project, "README.md"), "# project\n")
	l.write(filepath.Join(l.project, "main.go"), "package main\n")
	git := exec.CommandContext(t.Context(), "git", "init", "-q")
	git.Env, git.Dir = l.world.env, l.project
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	c.configure(l, true)
	return l
}

// end ends everything that runs in the lab. The test fails if something of swarm is then
// left. It must run before the test returns: cleanups have no context.
func (l *lab) end() {
	l.world.end()
}

// write makes a file and its directory.
func (l *lab) write(path, text string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// result is what a call of swarm printed, and its exit code.
type result struct {
	out, err string
	code     int
}

// try calls swarm with standard input and returns what came of it. Calls that wait have a
// limit of their own.
func (l *lab) try(stdin string, args ...string) result {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), agentLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "swarm"), args...)
	cmd.Env, cmd.Dir, cmd.Stdin = l.world.env, l.project, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatalf("swarm %s: %v", strings.Join(args, " "), err)
	}
	return result{out: out.String(), err: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// swarm calls swarm, which must exit with 0, and returns its output.
func (l *lab) swarm(args ...string) string {
	l.t.Helper()
	r := l.try("", args...)
	if r.code != 0 {
		l.t.Fatalf("swarm %s: exit %d\n%s%s\nthe screen:\n%s", strings.Join(args, " "), r.code, r.out, r.err, l.peek())
	}
	return r.out
}

// spawn starts the client as the worker w, with more flags of spawn and more arguments of
// the client.
func (l *lab) spawn(flags []string, args ...string) string {
	l.t.Helper()
	return l.swarm(l.spawnArgs(flags, args...)...)
}

func (l *lab) spawnArgs(flags []string, args ...string) []string {
	all := append([]string{"spawn", "--name", "w", "--tmux"}, flags...)
	return append(append(append(all, "--"), l.client.command...), args...)
}

// agentState is what status reports an agent.
type agentState struct {
	State, Source, Question, Broken string
	Choices                         []struct {
		Key, Label, Kind string
		Checked          *bool
	}
}

// state returns the state of the worker w.
func (l *lab) state() agentState {
	l.t.Helper()
	var status struct{ State agentState }
	if err := json.Unmarshal([]byte(l.swarm("status", "w", "--json")), &status); err != nil {
		l.t.Fatal(err)
	}
	return status.State
}

// ready starts the client and returns once it is at its prompt.
func (l *lab) ready(args ...string) {
	l.t.Helper()
	l.spawn([]string{"--ready-wait", "--ready-timeout", agentWait.String()}, args...)
	l.until("idle")
}

// permits skips the test if the client asks for no permissions.
func (l *lab) permits() {
	l.t.Helper()
	if l.client.allow == "" {
		l.t.Skip("it runs commands without a question")
	}
}

// until waits for a state of the worker w.
func (l *lab) until(state string) {
	l.t.Helper()
	l.untilOf("w", state)
}

// untilOf waits for a state of a worker.
func (l *lab) untilOf(worker, state string) {
	l.t.Helper()
	r := l.try("", "wait", worker, "--until", state, "--timeout", agentWait.String())
	if r.code != 0 {
		l.t.Fatalf("wait %s --until %s: exit %d\n%s%s\n%s", worker, state, r.code, r.out, r.err, l.try("", "explain", worker).out)
	}
}

// peek returns the worker's screen.
func (l *lab) peek() string {
	return l.try("", "peek", "w").out
}

// shows waits until the worker's screen matches.
func (l *lab) shows(pattern string) {
	l.t.Helper()
	re := regexp.MustCompile(pattern)
	screen := ""
	if !l.poll(func() bool { screen = l.peek(); return re.MatchString(screen) }) {
		l.t.Fatalf("the screen never showed %q:\n%s", pattern, screen)
	}
}

// poll asks until ok or until agentWait ends. Each question costs a process.
func (l *lab) poll(ok func() bool) bool {
	deadline := time.NewTimer(agentWait)
	defer deadline.Stop()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			return ok()
		case <-tick.C:
		}
	}
	return true
}

// prompted waits until the model was asked with exactly this prompt.
func (l *lab) prompted(prompt string) {
	l.t.Helper()
	l.promptedOne(prompt, "")
}

// promptedOne waits until the model was asked with exactly this prompt, or with the other
// one if that is not empty, and returns which.
func (l *lab) promptedOne(prompt, other string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), agentWait)
	defer cancel()
	r, err := l.model.Wait(ctx, func(r modelserver.Request) bool {
		return r.Prompted(prompt) > 0 || other != "" && r.Prompted(other) > 0
	})
	if err != nil {
		l.t.Fatalf("the prompt %s never came: %v\nwhat came: %s\nthe screen:\n%s", brief(prompt), err, l.asked(), l.peek())
	}
	if r.Prompted(prompt) == 0 {
		return other
	}
	return prompt
}

// once fails the test unless the newest request holds the prompt exactly once.
func (l *lab) once(prompt string) {
	l.t.Helper()
	all := l.model.Requests()
	if len(all) == 0 {
		l.t.Fatal("the model was never asked")
	}
	if n := all[len(all)-1].Prompted(prompt); n != 1 {
		l.t.Errorf("the prompt %s came %d times, want once: %s", brief(prompt), n, l.asked())
	}
}

// asked describes the texts of the newest request, for the message of a failure.
func (l *lab) asked() string {
	all := l.model.Requests()
	if len(all) == 0 {
		return "nothing"
	}
	var texts []string
	for _, text := range all[len(all)-1].User {
		texts = append(texts, brief(text))
	}
	return strings.Join(texts, ", ")
}

// killed kills the worker and fails the test if one of its processes is left.
func (l *lab) killed() {
	l.t.Helper()
	l.swarm("kill", "w", "--timeout", "5s")
	if left := l.world.processes(func(p process) bool { return p.worker }); len(left) > 0 {
		l.t.Errorf("processes of the worker live on after its kill:\n%s", list(left))
	}
}

// brief is a text short enough for the message of a failure.
func brief(text string) string {
	if len(text) > 200 {
		text = text[:100] + " … " + text[len(text)-100:]
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", `\n`)
}
