package integrate

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

// tree is a root command with a group of one verb, and one of a verb below another.
func tree() *cobra.Command {
	run := func(*cobra.Command, []string) error { return nil }
	root := &cobra.Command{Use: "swarm", Short: "short", Long: "Keep commands running.", Example: "  swarm spawn -- make\n  swarm ls"}
	root.AddGroup(&cobra.Group{ID: "workers", Title: "Workers"}, &cobra.Group{ID: "topics", Title: "Topics"})
	team := &cobra.Command{Use: "team", Short: "Teams", GroupID: "workers"}
	team.AddCommand(&cobra.Command{Use: "create NAME", Short: "Create a team", RunE: run})
	root.AddCommand(&cobra.Command{Use: "spawn", Short: "Start a worker", GroupID: "workers", RunE: run}, team,
		&cobra.Command{Use: "files", Short: "Where files are", GroupID: "topics"})
	return root
}

// files are the files of clients in the home of an app, by their paths in it.
func files(t *testing.T, a *app.App, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(a.Getenv("HOME"), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, a *app.App, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Getenv("HOME"), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func integrate(t *testing.T, a *app.App, args ...string) error {
	t.Helper()
	return apptest.Run(t, NewIntegrate(a, tree), args...)
}

// TestIntegrateRefuses changes nothing where a change could damage what is there, and names the
// place.
func TestIntegrateRefuses(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.WithState(t)
	before := map[string]string{
		".gemini/settings.json":                  "{\n  \"a\": 1\n  \"b\": 2\n}\n",
		".codex/config.toml":                     "model = \"x\"\nbroken = = 1\n",
		".qwen/settings.json":                    `{ "mcpServers": { "swarm": { "command": "npx", "args": ["other-swarm"] } } }`,
		".config/opencode/skills/swarm/SKILL.md": "my own\n",
	}
	files(t, a, before)
	for client, want := range map[string]string{
		"emacs":            "unknown coding agent 'emacs': expected claude, codex, gemini, opencode, qwen",
		"gemini":           "/.gemini/settings.json:3:3: expected ',' or '}'",
		"codex":            "/.codex/config.toml:2:",
		"qwen":             "an MCP server named 'swarm' is configured that is another program",
		"opencode":         "SKILL.md exists and is not swarm's: move it away first",
		"gemini --answers": "has no hook that can answer its questions: leave out --answers",
		"":                 "missing argument: name of a coding agent",
	} {
		if err := integrate(t, a, strings.Fields(client)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", client, err, want)
		}
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout %q", stdout)
	}
	for _, client := range []string{"qwen", "opencode"} {
		stdout.Reset()
		if err := integrate(t, a, client, "--remove"); err != nil || !strings.HasPrefix(stdout.String(), "nothing to do: ") {
			t.Errorf("%s --remove: %v, stdout %q", client, err, stdout)
		}
	}
	for name, text := range before {
		if got := read(t, a, name); got != text {
			t.Errorf("%s is now %q", name, got)
		}
	}
}

// TestIntegrateFollowsLinks has a link lead to where a manager of dotfiles keeps the file.
func TestIntegrateFollowsLinks(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.WithState(t)
	const text = "{\n  \"ui\": { \"theme\": \"x\" }\n}\n"
	files(t, a, map[string]string{"dotfiles/settings.json": text, ".gemini/other": ""})
	link := filepath.Join(a.Getenv("HOME"), ".gemini", "settings.json")
	if err := os.Symlink("../dotfiles/settings.json", link); err != nil {
		t.Fatal(err)
	}
	if err := integrate(t, a, "gemini", "--dry-run"); err != nil || read(t, a, "dotfiles/settings.json") != text {
		t.Errorf("a dry run: %v", err)
	}
	if !strings.Contains(stdout.String(), "hook gemini") {
		t.Errorf("the diff of a dry run: %q", stdout)
	}
	if err := integrate(t, a, "gemini"); err != nil || !strings.Contains(read(t, a, "dotfiles/settings.json"), "hook gemini") {
		t.Errorf("%v, %q", err, read(t, a, "dotfiles/settings.json"))
	}
	if _, err := os.Readlink(link); err != nil {
		t.Error(err)
	}
}

// TestIntegrateRefusesOddFiles has a link that leads nowhere, and a FIFO.
func TestIntegrateRefusesOddFiles(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.WithState(t)
	files(t, a, map[string]string{".gemini/other": ""})
	path := filepath.Join(a.Getenv("HOME"), ".gemini", "settings.json")
	if err := os.Symlink("nowhere", path); err != nil {
		t.Fatal(err)
	}
	if err := integrate(t, a, "gemini"); err == nil || !strings.Contains(err.Error(), "this link can't be followed") {
		t.Errorf("a link to nowhere: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := integrate(t, a, "gemini"); err == nil || !strings.Contains(err.Error(), "is a FIFO, not a regular file") {
		t.Errorf("a FIFO: %v", err)
	}
}

// TestIntegrateWithoutClient says what to install if the client's own program makes the change.
func TestIntegrateWithoutClient(t *testing.T) {
	a, _, _ := apptest.WithState(t)
	t.Setenv("PATH", t.TempDir())
	err := integrate(t, a, "claude")
	hinted, ok := errors.AsType[*output.HintError](err)
	if !ok || !strings.Contains(err.Error(), "the command 'claude' is not found") || !strings.HasPrefix(hinted.Hint, "install Claude Code, or put") {
		t.Errorf("%v, hint %+v", err, hinted)
	}
}

// TestHarmlessTools are never tools that run, start, end or answer something.
func TestHarmlessTools(t *testing.T) {
	t.Parallel()
	names := harmlessTools()
	for _, name := range ofMembers {
		if !slices.Contains(names, name) {
			t.Errorf("there is no tool %s any more", name)
		}
	}
	for _, listed := range tool.All() {
		harmless := listed.ReadOnly || slices.Contains(ofMembers, listed.Name)
		if slices.Contains(names, listed.Name) != harmless {
			t.Errorf("%s: allowed %t", listed.Name, !harmless)
		}
	}
	for _, name := range []string{"Bash", "KillShell", "kill-agent", "spawn-agent", "worker-send"} {
		if slices.Contains(names, name) {
			t.Errorf("%s is allowed without asking", name)
		}
	}
}

// TestSkill lists the verbs of all groups that have some, and all tools.
func TestSkill(t *testing.T) {
	t.Parallel()
	text, err := Skill(tree())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Keep commands running.", "swarm spawn -- make\nswarm ls", "Workers", "Start a worker", "swarm team create", "KillShell"} {
		if !strings.Contains(text, want) {
			t.Errorf("the skill lacks %q", want)
		}
	}
	if strings.Contains(text, "Topics") || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
		t.Errorf("the skill:\n%s", text)
	}
	if got := firstSentence("One\n  sentence. And more."); got != "One sentence." {
		t.Errorf("%q", got)
	}
}

// TestReadHook takes a part of a long input and does not wait for an end that never comes.
func TestReadHook(t *testing.T) {
	t.Parallel()
	if got := readHook(strings.NewReader(strings.Repeat("x", hookInputSize+100))); len(got) != hookInputSize {
		t.Errorf("%d bytes", len(got))
	}
	r, w := io.Pipe()
	defer func() { _ = w.Close() }() // it never fails
	go func() { _, _ = w.Write([]byte("part")) }()
	if got := string(readHook(r)); got != "part" {
		t.Errorf("%q", got)
	}
}

// TestHookNeverFails has a hook with each kind of wrong input.
func TestHookNeverFails(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"claude"}, {"emacs", "Stop"}, {"claude", "Stop"}, {"claude", "Stop", "more"}, {"claude", "NoSuchEvent"}} {
		a, stdout, stderr := apptest.WithState(t)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.WriteString("no JSON") // a pipe takes it at once
		_ = w.Close()
		runHook(t.Context(), a, args, r, false)
		_ = r.Close()
		if stdout.Len()+stderr.Len() > 0 {
			t.Errorf("%q: stdout %q, stderr %q", args, stdout, stderr)
		}
	}
}
