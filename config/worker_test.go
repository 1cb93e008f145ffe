package config

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWorkers(t *testing.T) {
	t.Parallel()
	user := write(t, "config.toml", "[defaults]\nbackend = \"tmux\"\ntags = [\"mine\"]\nretain = 3600\n[kill]\ntimeout = \"9s\"\n")
	project := write(t, ProjectFile, `
log.limit = "1MiB"
[workers.web]
command = ["npm", "start"]
backend = "process"
cwd = "site/../site"
env = { PORT = 8080, DEBUG = true, NAME = "w" }
env_file = ".env"
tags = ["dev", "mine"]
restart = "always"
workspace = { plugin = "copy", options = { exclude = "node_modules" } }
ready = "listening on"
depends_on = ["db", "a.b"]
kill.signal = "SIGINT"
kill.force = false
retain = "none"
stdin = true
log_limit = "2MiB"
[workers.db]
command = ["db"]
worktree = true
ready = true
[workers."a.b"]
command = ["x"]
cwd = "~/x"
session = "s"
tmux_socket = "t"
options.queue = "gpu"
worktree = { branch = "b", dir = "~/trees" }
restart = { max_delay = "1m" }
[workers."a.b".ready]
timeout = 5
[workers.plain]
command = ["x"]
workspace = "copy"
[workers.last]
command = ["x"]
env_file = ["/etc/x", "b"]
worktree = { }
restart = { when = "no", budget = 3, min_delay = 2, window = "30s" }
`)
	l, err := Load(Options{User: user, Project: project, Home: "/home/u", Trusted: func(string, []byte) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(project)
	kill := Kill{Timeout: 9 * time.Second, Force: true, Mode: "tree"}
	want := map[string]Worker{
		"web": {
			Command: []string{"npm", "start"}, Backend: "process", Dir: filepath.Join(dir, "site"),
			Env: map[string]string{"PORT": "8080", "DEBUG": "true", "NAME": "w"}, EnvFiles: []string{filepath.Join(dir, ".env")},
			Tags: []string{"mine", "dev"}, Restart: Restart{When: RestartAlways}, Ready: Ready{Wait: true, Pattern: "listening on"},
			DependsOn: []string{"db", "a.b"}, Kill: Kill{Signal: "SIGINT", Timeout: 9 * time.Second, Mode: "tree"},
			Retain: RetainNone, Stdin: true, LogLimit: 2 << 20,
			Workspace: Workspace{Use: true, Plugin: "copy", Options: map[string]string{"exclude": "node_modules"}},
		},
		"db": {
			Command: []string{"db"}, Backend: "tmux", Dir: dir, Tags: []string{"mine"}, Workspace: Workspace{Use: true, Plugin: "worktree"},
			Ready: Ready{Wait: true}, Kill: kill, Retain: "1h", LogLimit: 1 << 20,
		},
		"a.b": {
			Command: []string{"x"}, Backend: "tmux", Dir: "/home/u/x", Tags: []string{"mine"}, Session: "s", TmuxSocket: "t",
			Options: map[string]string{"queue": "gpu"}, Workspace: Workspace{Use: true, Plugin: "worktree", Branch: "b", Dir: "/home/u/trees"},
			Restart: Restart{When: RestartOnFailure, MaxDelay: time.Minute}, Ready: Ready{Wait: true, Timeout: 5 * time.Second},
			Kill: kill, Retain: "1h", LogLimit: 1 << 20,
		},
		"plain": {
			Command: []string{"x"}, Backend: "tmux", Dir: dir, Tags: []string{"mine"}, Workspace: Workspace{Use: true, Plugin: "copy"},
			Kill: kill, Retain: "1h", LogLimit: 1 << 20,
		},
		"last": {
			Command: []string{"x"}, Backend: "tmux", Dir: dir, EnvFiles: []string{"/etc/x", filepath.Join(dir, "b")},
			Tags: []string{"mine"}, Workspace: Workspace{Use: true, Plugin: "worktree"},
			Restart: Restart{When: RestartNo, Budget: 3, MinDelay: 2 * time.Second, Window: 30 * time.Second},
			Kill:    kill, Retain: "1h", LogLimit: 1 << 20,
		},
	}
	if diff := cmp.Diff(want, l.Config.Workers); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	if got, want := l.Origins["workers.web"].String(), project+":3:2"; got != want {
		t.Errorf("web is declared at %s, want %s", got, want)
	}
}

func TestProblemsOfWorkers(t *testing.T) {
	t.Parallel()
	path := write(t, ProjectFile, `
[workers.a]
command = "npm run dev"
comand = ["x"]
varriables = { }
env = { OK = "1", BAD = 1.5, "A=B" = "x" }
env_file = [""]
restart = "sometimes"
ready = "("
worktree = "yes"
depends_on = "b"
[workers.a.kill]
signal = "SIGFOO"
timout = 5
[workers.b]
command = ["sh", 1]
env.X = [1]
env.Y.Z = 1
options = 3
restart = { when = 1, budget = 0, min_delay = "0s", delay = 1 }
ready = { pattern = "", timeout = "soon" }
retain = "forever"
kill = 9
[workers.c]
depends_on = ["a", "d1", "zebra"]
command = "echo 'x y' | cat"
[workers.d]
[workers.d2]
command = []
[workers."no/name"]
command = ["x"]
[workers]
e = 5
[workers.f]
command = ["x"]
command2 = { x = 1 }
`)
	_, err := Load(Options{Project: path, Checks: Checks{
		"workers.*.kill.signal": func(string) error { return errors.New("unknown signal") },
		"workers.*": func(name string) error {
			if name == "no/name" {
				return errors.New("not a name")
			}
			return nil
		},
	}})
	want := []string{
		`3:11: workers.a.command: expected an array of strings, got a string: write ["npm", "run", "dev"]`,
		"4:1: workers.a.comand: unknown key (did you mean 'workers.a.command'?)",
		"5:1: workers.a.varriables: unknown key",
		"6:25: workers.a.env.BAD: expected a string, got a float",
		`6:38: workers.a.env."A=B": expected a name without '=' and NUL characters`,
		"7:12: workers.a.env_file: expected a path, got an empty string",
		`8:11: workers.a.restart: expected "no" or "on-failure" or "always", got "sometimes"`,
		"9:9: workers.a.ready: error parsing regexp: missing closing ): `(`",
		"10:12: workers.a.worktree: expected true, false or a table, got a string",
		"11:14: workers.a.depends_on: expected an array of strings, got a string",
		"13:10: workers.a.kill.signal: unknown signal",
		"14:1: workers.a.kill.timout: unknown key (did you mean 'workers.a.kill.timeout'?)",
		"16:11: workers.b.command: element 2: expected a string, got an integer",
		"17:9: workers.b.env.X: expected a string, got an array",
		"18:11: workers.b.env.Y: expected a string, got a table",
		"19:11: workers.b.options: expected a table, got an integer",
		`20:20: workers.b.restart.when: expected "no" or "on-failure" or "always", got an integer`,
		"20:32: workers.b.restart.budget: expected a number from 1, got 0",
		"20:47: workers.b.restart.min_delay: expected more than 0",
		"20:53: workers.b.restart.delay: unknown key",
		"21:21: workers.b.ready.pattern: expected a regular expression, got an empty string",
		"21:35: workers.b.ready.timeout: expected a duration such as 90, 90s, 5m or 1h30m",
		`22:10: workers.b.retain: expected "until-clean", "none" or a duration such as "1h"`,
		"23:8: workers.b.kill: expected a table, got an integer",
		"25:1: workers.c.depends_on: unknown worker 'd1' (did you mean 'd'?)",
		"25:1: workers.c.depends_on: unknown worker 'zebra'",
		`26:11: workers.c.command: expected an array of strings, got a string: write ["sh", "-c", "echo 'x y' | cat"]`,
		`27:2: workers.d: a command is missing, such as command = ["npm", "start"]`,
		"29:11: workers.d2.command: expected a program",
		`30:2: workers."no/name": not a name`,
		"33:5: workers.e: expected a table, got an integer",
		"36:1: workers.f.command2: unknown key (did you mean 'workers.f.command'?)",
	}
	if diff := cmp.Diff(want, problems(t, err, path)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		"a = []\nb = ['a']\nc = ['a', 'b']": nil,
		"a = ['a']":                         {"a: a cycle: a -> a"},
		"a = ['b']\nb = ['a']":              {"a: a cycle: a -> b -> a"},
		"a = ['b']\nb = ['c']\nc = ['d', 'b']\nd = ['b']\ne = ['a']": {
			"b: a cycle: b -> c -> d -> b", "b: a cycle: b -> c -> b",
		},
	} {
		l := map[string]Worker{}
		deps := map[string][]string{}
		mustDecode(t, src, &deps)
		for name, on := range deps {
			l[name] = Worker{DependsOn: on}
		}
		var got []string
		for _, c := range cycles(l) {
			text := c[0] + ": a cycle: " + c[0]
			for _, name := range c[1:] {
				text += " -> " + name
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
		}
	}
}

func TestWorkersAreTheProjects(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"[workers.a]\ncommand = [\"x\"]\n", "workers.a.command = [\"x\"]\nworkers.b.command = 5"} {
		path := write(t, "config.toml", src)
		l, err := Load(Options{User: path})
		got := problems(t, err, path)
		if len(got) != 1 || len(l.Config.Workers) != 0 {
			t.Errorf("%q: problems %q, workers %v", src, got, l.Config.Workers)
		}
	}
}

func TestWorkerKeepsPriorityZero(t *testing.T) {
	t.Parallel()
	path := write(t, "swarm.toml", "[defaults]\nnice = 5\n[workers.usual]\ncommand = [\"x\"]\nnice = 0\n[workers.low]\ncommand = [\"x\"]\n")
	l, err := Load(Options{Project: path})
	if err != nil {
		t.Fatal(err)
	}
	if w := l.Config.Workers; w["usual"].Limits.Nice != 0 || w["low"].Limits.Nice != 5 {
		t.Errorf("priorities %d and %d", w["usual"].Limits.Nice, w["low"].Limits.Nice)
	}
}
