// The scripts in testdata/script are black-box tests of the built programs: one
// behaviour each, written from the documents, with real tmux, real git and real
// plugin processes. Run one with
//
//	go test ./cmd/swarm -run TestScript/^kill_single_process_worker$
//
// Those in testdata/backends are run once with each local backend, which BACKEND names
// and the condition [backend:NAME] asks for. Run one with
//
//	go test ./cmd/swarm -run TestBackends/^tmux$/^logs$
//
// Next to testscript's own commands they use those of script_command_test.go.
// After each script everything that it started is ended, and a script that
// passed fails if swarm left a process or a socket behind.
package main_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/leftover"
)

// scriptLimit is how long one script may take. A script that hangs is ended
// with a stack trace of the program that hangs.
const scriptLimit = 6 * time.Minute

// bin is the directory of the programs under test.
var bin string

func TestMain(m *testing.M) {
	if err := leftover.Watch(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := leftover.MkdirTemp("", "swarm-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := leftover.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	if err := prepare(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// A shell starts background jobs with SIGINT ignored, which the scripts' programs would
	// inherit. A caught signal is not inherited.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	flag.Parse()
	if err := moreParallel(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// prepare builds the programs, and has testscript work in dir, since it
// leaves an empty directory behind when only some scripts run.
func prepare(dir string) error {
	bin = filepath.Join(dir, "bin")
	work := filepath.Join(dir, "work")
	for _, d := range []string{bin, work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	err := buildtest.Programs(bin, "github.com/swarmhost/swarm/cmd/...")
	if err == nil {
		err = buildtest.Programs(bin, "./testdata/worker", "./testdata/mcpclient", "./testdata/mcpdaemon", "../../host/ralph/testdata/agent")
	}
	for _, name := range []string{"bare", "faulty", "hostile", "notes", "notifier"} {
		if err == nil {
			err = buildtest.Program(filepath.Join(bin, name, "swarm-plugin-"+name), "./testdata/"+name)
		}
	}
	if err == nil {
		err = buildtest.Program(filepath.Join(bin, "first", "swarm-plugin-first"), "../../shared/plugin/client/testdata/contract1")
	}
	if err != nil {
		return err
	}
	return os.Setenv("GOTMPDIR", work)
}

// moreParallel runs more scripts at once than there are processors, unless the
// user said how many: most of them wait for something.
func moreParallel() error {
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if set {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
}

// raceScripts are repeated with programs that have the race detector.
var raceScripts = []string{
	"agent_kill_approved", "attach", "deliver_send", "first_steps", "inbox_wait", "kill_all_workers",
	"kill_rm_worktree_clean", "kill_single_process_worker", "kill_single_tmux_worker", "logs_of_many",
	"mcp_kill_agent_approved", "plugin_third_party", "ralph_one_iteration", "respawn_worktree",
	"restart_on_failure", "send_process", "send_tmux", "tool_background_shell", "top", "up_in_order", "watch_two",
}

func TestScript(t *testing.T) {
	t.Parallel()
	needTools(t)
	p := testscript.Params{Setup: setup, Cmds: commands, RequireUniqueNames: true}
	if os.Getenv(buildtest.EnvRace) == "" {
		p.Dir = "testdata/script"
	} else {
		for _, name := range raceScripts {
			p.Files = append(p.Files, "testdata/script/"+name+".txtar")
		}
	}
	testscript.Run(t, p)
}

func TestBackends(t *testing.T) {
	t.Parallel()
	needTools(t)
	for _, backend := range []string{"process", "tmux"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir: "testdata/backends",
				Setup: func(env *testscript.Env) error {
					env.Setenv("BACKEND", backend)
					return setup(env)
				},
				Condition: func(cond string) (bool, error) {
					name, ok := strings.CutPrefix(cond, "backend:")
					if !ok {
						return false, fmt.Errorf("unknown condition %q", cond)
					}
					return name == backend, nil
				},
				Cmds:               commands,
				RequireUniqueNames: true,
			})
		})
	}
}

// needTools fails the test if a program that the scripts run is missing.
func needTools(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"tmux", "git", "less", "vim", "jq", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is needed: install it with your package manager, such as apt-get install %s", tool, tool)
		}
	}
}

// setup gives a script a world of its own. ROOT holds all of it and is short,
// since tmux and others put sockets there; every process that a script starts
// can be recognised by it.
func setup(env *testscript.Env) error {
	root, err := leftover.MkdirTemp("/tmp", "sw")
	if err != nil {
		return err
	}
	home := filepath.Join(root, "h")
	for _, dir := range []string{home, filepath.Join(root, "t"), filepath.Join(root, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	gitConfig := "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o600); err != nil {
		return err
	}
	env.Vars = append(env.Vars,
		"ROOT="+root,
		"BIN="+bin,
		"SYSPATH="+os.Getenv("PATH"),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+home,
		"SWARM_DIR="+filepath.Join(root, "s"),
		"TMPDIR="+filepath.Join(root, "tmp"),
		"TMUX_TMPDIR="+filepath.Join(root, "t"),
		"XDG_CONFIG_HOME="+filepath.Join(home, ".config"),
		"XDG_STATE_HOME="+filepath.Join(home, ".local/state"),
		"XDG_CACHE_HOME="+filepath.Join(home, ".cache"),
		"GIT_CONFIG_NOSYSTEM=1",
		"SHELL=/bin/sh",
		"TERM=screen",
		"LC_ALL=C.UTF-8",
	)
	if os.Getenv(buildtest.EnvRace) != "" {
		env.Setenv("GORACE", "atexit_sleep_ms=20 log_path="+filepath.Join(root, "race"))
	}
	w := newWorld(env, root)
	env.Values[worldKey{}] = w
	env.Values[skipperKey{}] = env.T()
	env.Values[mcpServersKey{}] = mcpServers{}
	env.Defer(w.end)
	return nil
}
