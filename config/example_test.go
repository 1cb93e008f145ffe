package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExampleHoldsTheDefaults(t *testing.T) {
	t.Parallel()
	l, err := Load(Options{User: write(t, "config.toml", Example())})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), l.Config); diff != "" {
		t.Errorf("the example changes something (-want +got):\n%s", diff)
	}
}

// commented are the lines of the example that show a key without setting it.
var commented = regexp.MustCompile(`(?m)^# ((\[((plugins|workers)\.[a-z]+|hooks(\.[a-z]+)?|\[answers\])\])|[a-z_0-9]+ = .*)$`)

func TestExampleShowsEveryKey(t *testing.T) {
	t.Parallel()
	path := write(t, ProjectFile, commented.ReplaceAllString(Example(), "$1"))
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "swarm"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "swarm", "env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Load(Options{Project: path, Home: home, Trusted: func(string, []byte) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields() {
		if _, set := l.Origins[f.key]; !set {
			t.Errorf("%s is not in the example", f.key)
		}
	}
	for _, f := range pluginFields() {
		if !slices.ContainsFunc([]string{"example", "queue"}, func(name string) bool { return l.Origins[pluginKey(name, f.key)].Line > 0 }) {
			t.Errorf("plugins.NAME.%s is not in the example", f.key)
		}
	}
	for _, f := range workerFields() {
		shown := regexp.MustCompile(`^workers\.[a-z]+\.` + regexp.QuoteMeta(f.key) + `(\.|$)`)
		if !slices.ContainsFunc(sortedKeys(l.Origins), shown.MatchString) {
			t.Errorf("workers.NAME.%s is not in the example", f.key)
		}
	}
	hooks := regexp.MustCompile(`(?s)# \[hooks\].*?\n\n`).FindString(Example())
	l, err = Load(Options{User: write(t, "config.toml", commented.ReplaceAllString(hooks, "$1"))})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range hookFields() {
		if l.Origins[hookKey("ci", f.key)].Line == 0 {
			t.Errorf("hooks.NAME.%s is not in the example", f.key)
		}
	}
	rule := regexp.MustCompile(`(?s)# \[\[answers\]\].*?\n\n`).FindString(Example())
	l, err = Load(Options{User: write(t, "config.toml", commented.ReplaceAllString(rule, "$1")), Home: home})
	if err != nil || len(l.Config.Answers) != 1 {
		t.Fatalf("%v, %v", l.Config.Answers, err)
	}
	for _, f := range answerFields() {
		if f.show(&l.Config.Answers[0]) == "" {
			t.Errorf("answers.%s is not in the example", f.key)
		}
	}
}

// A field of the structs that no key sets would be a setting that can't be made.
func TestEveryStructFieldHasAKey(t *testing.T) {
	t.Parallel()
	// Plugins, Workers, Hooks and Answers have keys of their own, and Env.Values comes from Env.File.
	if got, want := len(fields()), leaves(reflect.TypeFor[Config]())-5; got != want {
		t.Errorf("%d keys for %d fields of Config", got, want)
	}
	// Source is where the keys come from.
	if got, want := len(answerFields()), leaves(reflect.TypeFor[Answer]())-1; got != want {
		t.Errorf("%d keys for %d fields of Answer", got, want)
	}
	if got, want := len(pluginFields()), leaves(reflect.TypeFor[Plugin]())-1; got != want {
		t.Errorf("%d keys for %d fields of Plugin", got, want)
	}
	if got, want := len(hookFields()), leaves(reflect.TypeFor[Hook]()); got != want {
		t.Errorf("%d keys for %d fields of Hook", got, want)
	}
	// restart, workspace, worktree and ready have a short form each; that of workspace and of
	// ready has a field of its own. The three keys of worktree set the fields of workspace.
	if got, want := len(workerFields()), leaves(reflect.TypeFor[Worker]())+4; got != want {
		t.Errorf("%d keys for %d fields of Worker", got, want)
	}
}

func leaves(typ reflect.Type) int {
	n := 0
	for f := range typ.Fields() {
		if f.Type.Kind() == reflect.Struct {
			n += leaves(f.Type)
		} else {
			n++
		}
	}
	return n
}

func TestWriteNew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b", "config.toml")
	if err := WriteNew(path, Example()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(path, Example()); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want ErrExists", err)
	}
	if got, err := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("the user's file is now %q, %v", got, err)
	}
}

func TestValuesAreTOML(t *testing.T) {
	t.Parallel()
	path := write(t, "config.toml", `
defaults.tags = ["a\"b", "ü\u0001"]
defaults.session = "s p"
[plugins.x]
command = "/bin/x"
config = { "a b" = [1, 2.5, true], c = [{ d = 2020-01-02 }], e = {} }
[[plugins.y.config.z]]
v = 1
`)
	first, err := Load(Options{User: path})
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	for _, v := range first.Values() {
		shown += v.Key + " = " + v.Value + "\n"
	}
	second, err := Load(Options{User: write(t, "config.toml", shown)})
	if err != nil {
		t.Fatalf("%v in\n%s", err, shown)
	}
	for i, v := range second.Values() {
		if want := first.Values()[i]; v.Key != want.Key || v.Value != want.Value {
			t.Errorf("%s = %s became %s = %s", want.Key, want.Value, v.Key, v.Value)
		}
	}
}

func TestValuesAsData(t *testing.T) {
	t.Parallel()
	l, err := Load(Options{User: write(t, "config.toml", "[defaults]\ntags = [\"a\"]\n[plugins.x]\nmtls = true\nconfig = { region = \"e\\u0009u\", n = 3 }\n")})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, v := range l.Values() {
		got[v.Key] = v.Data()
	}
	want := map[string]any{
		"defaults.backend": "process", "defaults.tags": []any{"a"}, "defaults.retain": "until-clean", "defaults.resurrect": false, "defaults.sandbox": false,
		"kill.timeout": "5s", "kill.force": true, "kill.mode": "tree", "log.limit": "64MiB", "install.github_api": "https://api.github.com", "defaults.workspace": "worktree",
		"team.answers": "person", "team.notify": []any{"blocked", "idle", "limited", "broken"},
		"notify.on": []any{"failed", "lost", "crash-loop", "blocked", "limited", "broken"}, "plugins.x.mtls": true, "plugins.x.tools": false, "plugins.x.config": map[string]any{"region": "e\tu", "n": int64(3)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
