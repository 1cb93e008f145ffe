package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

// write makes a file in a directory of its own and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadNothing(t *testing.T) {
	t.Parallel()
	l, err := Load(Options{User: filepath.Join(t.TempDir(), "none.toml")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), l.Config); diff != "" {
		t.Errorf("not the defaults (-want +got):\n%s", diff)
	}
}

func TestProjectOverUserKeyByKey(t *testing.T) {
	t.Parallel()
	user := write(t, "config.toml", `
[defaults]
backend = "tmux"
tags = ["mine"]
[kill]
timeout = 90
[plugins.x]
command = "~/bin/x"
mtls = true
`)
	project := write(t, "swarm.toml", `
kill = { timeout = "1h30m", mode = "main" }
log.limit = 1048576
[plugins.x]
command = ["./x", "-v"]
config.region = "eu"
`)
	yes := func(string, []byte) bool { return true }
	l, err := Load(Options{User: user, Project: project, Home: "/home/u", Trusted: yes})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Defaults.Backend = "tmux"
	want.Defaults.Tags = []string{"mine"}
	want.Kill.Timeout = 90 * time.Minute
	want.Kill.Mode = "main"
	want.Log.Limit = 1 << 20
	want.Plugins = map[string]Plugin{"x": {
		Command: []string{filepath.Join(filepath.Dir(project), "x"), "-v"},
		MTLS:    true,
		Config:  map[string]any{"region": "eu"},
		Source:  project,
	}}
	if diff := cmp.Diff(want, l.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if got, want := l.Origins["kill.timeout"].String(), project+":2:10"; got != want {
		t.Errorf("kill.timeout comes from %s, want %s", got, want)
	}
	if got, want := l.Origins["plugins.x.mtls"].String(), user+":9:1"; got != want {
		t.Errorf("plugins.x.mtls comes from %s, want %s", got, want)
	}
}

func TestUntrustedProjectNamesNoPlugins(t *testing.T) {
	t.Parallel()
	user := write(t, "config.toml", "[plugins.x]\ncommand = \"/usr/bin/x\"\n")
	project := write(t, "swarm.toml", "[defaults]\nbackend = \"x\"\n[plugins.x]\ncommand = \"./evil\"\n[plugins.process]\ncommand = \"./evil\"\n[team]\nagent_command = [\"./evil\"]\n")
	l, err := Load(Options{User: user, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Plugin{"x": {Command: []string{"/usr/bin/x"}, Source: SourceUser}}
	if diff := cmp.Diff(want, l.Config.Plugins); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	if l.Config.Defaults.Backend != "x" {
		t.Errorf("backend %q: what runs no code holds without trust", l.Config.Defaults.Backend)
	}
	var ignored []string
	for _, i := range l.Ignored {
		ignored = append(ignored, fmt.Sprintf("%d %s", i.At.Line, i.Key))
	}
	if diff := cmp.Diff([]string{"8 team.agent_command", "6 plugins.process", "4 plugins.x"}, ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	if l.Config.Team.AgentCommand != nil {
		t.Errorf("agent command %q of a file that is not trusted", l.Config.Team.AgentCommand)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	path := write(t, "swarm.toml", `# ümläut
default = 1
timeout = "5s"
[defaults]
backend = 7
tags = ["a", 2]
"bäckend" = "x"   # not near enough in bytes, near in letters
[kill]
timeout = "soon"
timeot = "5s"
force = "yes"
mode = "all"
signal = "SIGFOO"
[log]
limit = -1
[plugins.a]
comand = "x"
sha256 = "12"
[plugins.a.config]
anything = { goes = [1, { here = 2 }] }
[plugins.b]
command = []
[plugins.c]
command = "x"
version = "1.2"
[plugins.d]
version = 1.2
[unknown.table]
with = "children"
`)
	signal := func(string) error { return errors.New("unknown signal") }
	_, err := Load(Options{User: path, Checks: Checks{"kill.signal": signal}})
	want := []string{
		"2:1: default: unknown key (did you mean 'defaults'?)",
		"3:1: timeout: unknown key (did you mean 'kill.timeout'?)",
		"5:11: defaults.backend: expected a string, got an integer",
		"6:8: defaults.tags: element 2: expected a string, got an integer",
		`7:1: defaults."bäckend": unknown key (did you mean 'defaults.backend'?)`,
		"9:11: kill.timeout: expected a duration such as 90, 90s, 5m or 1h30m",
		"10:1: kill.timeot: unknown key (did you mean 'kill.timeout'?)",
		"11:9: kill.force: expected true or false, got a string",
		`12:8: kill.mode: expected "tree" or "main", got "all"`,
		"13:10: kill.signal: unknown signal",
		"15:9: log.limit: expected a size such as 64MiB, 500KB or 1GiB",
		"17:1: plugins.a.comand: unknown key (did you mean 'plugins.a.command'?)",
		"18:10: plugins.a.sha256: expected 64 hexadecimal digits, as sha256sum prints them",
		"22:11: plugins.b.command: expected a program",
		"25:1: plugins.c.version: a version is of an installed plugin, a command names another: leave out one of the two",
		`27:11: plugins.d.version: expected a string, got a float: write "1.2"`,
		"28:2: unknown.table: unknown key",
	}
	if diff := cmp.Diff(want, problems(t, err, path)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestDamagedFile(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"[kill]\ntimeout = \n":         "2:11: expected value but found '\\n' instead",
		"a = 1\na = 2\n":               "2:1: Key 'a' has already been defined.",
		"\ufeff\n\n\"ü\" = \"x\ny\"\n": "3:9: strings cannot contain newlines",
		"kill = 5\nkill.force = 1\n":   "2:1: Key 'kill' has already been defined.",
	} {
		path := write(t, "config.toml", src)
		l, err := Load(Options{User: path})
		got := problems(t, err, path)
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
		if diff := cmp.Diff(Default(), l.Config); diff != "" {
			t.Errorf("%q: not the defaults (-want +got):\n%s", src, diff)
		}
	}
}

// An agent may work anywhere: its program is where the file says.
func TestAgentCommand(t *testing.T) {
	t.Parallel()
	user := write(t, "config.toml", "[team]\nagent_command = [\"~/bin/agent\", \"{prompt}\"]\n")
	l, err := Load(Options{User: user, Home: "/home/u"})
	if diff := cmp.Diff([]string{"/home/u/bin/agent", "{prompt}"}, l.Config.Team.AgentCommand); diff != "" || err != nil {
		t.Errorf("of the user's file (-want +got), %v:\n%s", err, diff)
	}
	project := write(t, "swarm.toml", "[team]\nagent_command = [\"./agent\"]\n")
	for trusted, want := range map[bool]string{true: filepath.Join(filepath.Dir(project), "agent"), false: "/home/u/bin/agent"} {
		l, err := Load(Options{User: user, Project: project, Home: "/home/u", Trusted: func(string, []byte) bool { return trusted }})
		if err != nil || l.Config.Team.AgentCommand[0] != want {
			t.Errorf("trusted %v: %q, %v, want %q", trusted, l.Config.Team.AgentCommand, err, want)
		}
	}
	_, err = Load(Options{User: write(t, "config.toml", "team.agent_command = \"agent -x\"\n")})
	var problems Problems
	if !errors.As(err, &problems) || !strings.Contains(problems[0].Text, `write ["agent", "-x"]`) {
		t.Errorf("a string for a command: %v", err)
	}
}

// The valid part of a file with problems is still returned: a command that must not fail
// continues with it.
func TestRightPartOfDamagedFile(t *testing.T) {
	t.Parallel()
	path := write(t, "config.toml", "[kill]\nfoo = 1\ntimeout = \"9s\"\n")
	l, err := Load(Options{User: path})
	if err == nil || l.Config.Kill.Timeout != 9*time.Second {
		t.Errorf("timeout %v, error %v", l.Config.Kill.Timeout, err)
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := write(t, "config.toml", string(make([]byte, maxFile+1)))
	_, err := Load(Options{User: big, Project: dir})
	want := Problems{
		{At: Position{File: big}, Text: "larger than 1MiB"},
		{At: Position{File: dir}, Text: "not a regular file"},
	}
	if diff := cmp.Diff(want, err); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// problems returns the lines of err without the path, which they all begin with.
func problems(t *testing.T, err error, path string) []string {
	t.Helper()
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatalf("error %v, want Problems", err)
	}
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()[len(path)+1:]
	}
	return lines
}

// mustDecode decodes TOML that has no problems.
func mustDecode(t *testing.T, src string, into any) {
	t.Helper()
	if _, err := toml.Decode(src, into); err != nil {
		t.Fatal(err)
	}
}

// Whatever a file holds, it is read or refused, and all problems have a place.
func FuzzLoad(f *testing.F) {
	f.Add(Example())
	f.Add(commented.ReplaceAllString(Example(), "$1"))
	for _, src := range seeds {
		f.Add(src)
	}
	f.Add("workers.\"a.b\".env.X.Y = 1\nworkers.x = [{a=1}]\n[[workers.y]]\n[plugins]\nx.config.a = 1\n[kill]\nsignal = { }\n")
	f.Add("[workers.a]\nworktree = {}\nrestart.when.x = 1\ncommand = ''\ndepends_on = ['a', 'b']\n")
	f.Add("\x01") // the library reports no place for it
	f.Fuzz(func(t *testing.T, src string) {
		l := &Loaded{Config: Default(), Origins: map[string]Position{}}
		for _, p := range l.add("/p/swarm.toml", src, true, Options{Project: "/p/swarm.toml"}) {
			if p.At.Line == 0 {
				t.Errorf("%q: %v has no place", src, p)
			}
		}
		l.fillIn()
		l.Values()
	})
}

// A version of one file and a command of the other say two things: the later file
// is right.
func TestVersionOrCommand(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"command": write(t, "a.toml", "[plugins.x]\ncommand = \"/bin/x\"\nmtls = true\n"),
		"version": write(t, "b.toml", "[plugins.x]\nversion = \"1.2.0\"\n"),
	}
	for first, want := range map[string]Plugin{
		"version": {Command: []string{"/bin/x"}, MTLS: true},
		"command": {Version: "1.2.0", MTLS: true},
	} {
		second := "command"
		if first == second {
			second = "version"
		}
		l, err := Load(Options{User: files[first], Project: files[second], Trusted: func(string, []byte) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		want.Source = files[second]
		if diff := cmp.Diff(want, l.Config.Plugins["x"]); diff != "" {
			t.Errorf("%s, then %s (-want +got):\n%s", first, second, diff)
		}
	}
}
