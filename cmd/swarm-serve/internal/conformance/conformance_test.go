package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/plugintest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// home makes a home with a plugin at bin/swarm-plugin-mine, and settings for it.
func home(t *testing.T, config string) (s setup.Setup, path string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "bin", catalog.Prefix+"mine")
	for name, text := range map[string]string{
		path: "#!/bin/sh\n", filepath.Join(dir, "config", "swarm", "config.toml"): config, filepath.Join(dir, "bin", "swarm-shim"): "#!/bin/sh\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	return setup.Setup{
		Env: []string{
			"HOME=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "SWARM_HOME=" + filepath.Join(dir, "state"),
			"PATH=" + filepath.Join(dir, "bin"),
		},
		Program: filepath.Join(dir, "bin", "swarm"),
	}, path
}

const settings = "[plugins.mine]\nconfig = { level = 3 }\n"

// TestFind finds a plugin by its name as a host does, and at a path, with its settings.
func TestFind(t *testing.T) {
	t.Parallel()
	s, path := home(t, settings)
	for _, target := range []string{"mine", path} {
		var errs strings.Builder
		e, err := find(t.Context(), s, target, &errs)
		if err != nil || errs.String() != "" {
			t.Errorf("find %s: %v, %s", target, err, errs.String())
			continue
		}
		b, err := (&options{}).binary(s, e)
		if err != nil || e.Name != "mine" || b.Path != path || string(b.Config) != `{"level":3}` || b.Shim != filepath.Join(filepath.Dir(path), "swarm-shim") {
			t.Errorf("find %s: %+v, binary %+v, %v", target, e, b, err)
		}
	}
	if _, err := find(t.Context(), s, "other", &strings.Builder{}); err == nil {
		t.Error("a plugin that is not there was found")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := find(t.Context(), s, path, &strings.Builder{})
	if _, missing := errors.AsType[*catalog.MissingError](err); !missing {
		t.Errorf("a plugin that can't be executed: %v", err)
	}
}

// TestFindWarns of problems in the configuration, which need not be about this plugin.
func TestFindWarns(t *testing.T) {
	t.Parallel()
	s, path := home(t, "nonsense = \"\x1b[31m\"\n")
	var errs strings.Builder
	if _, err := find(t.Context(), s, path, &errs); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(errs.String(), "swarm: warning: ") || strings.Contains(errs.String(), "\x1b") {
		t.Errorf("it printed %q", errs.String())
	}
}

// TestSpec gives the options of the user to each worker, with its id.
func TestSpec(t *testing.T) {
	t.Parallel()
	s, path := home(t, "")
	o := &options{options: map[string]string{"image": "busybox", "name": "w-{id}"}}
	b, err := o.binary(s, catalog.Entry{Command: []string{path, "-x"}})
	if err != nil || !slices.Equal(b.Args, []string{"-x"}) {
		t.Fatalf("%+v, %v", b, err)
	}
	spec := swarm.Spec{ID: "id"}
	b.Spec(t, &spec)
	if diff := cmp.Diff(map[string]string{"image": "busybox", "name": "w-id"}, spec.Options); diff != "" {
		t.Errorf("the options (-want +got):\n%s", diff)
	}
}

func TestReadHandles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "handles.json")
	for text, want := range map[string][]swarm.Handle{
		`[{"version": 1, "data": "YWI="}, {"version": 2, "data": ""}]`: {{Version: 1, Data: []byte("ab")}, {Version: 2, Data: []byte{}}},
		`[]`:               {},
		`{"version": 1}`:   nil,
		`[{"data": "%%"}]`: nil,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readHandles(file)
		if (err == nil) != (want != nil) || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
		if want == nil && !strings.Contains(err.Error(), `expected an array of {"version": number, "data": base64}`) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUsage: exit codes and the way out of calls that are wrong.
func TestUsage(t *testing.T) {
	t.Parallel()
	s, _ := home(t, "")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--help"}, 0, "Usage: swarm-serve check [flags] PATH|NAME"},
		{nil, exitUsage, "expected one plugin, a path or a name"},
		{[]string{"a", "b"}, exitUsage, "expected one plugin"},
		{[]string{"--option", "novalue", "a"}, exitUsage, "expected KEY=VALUE"},
		{[]string{"--run", "(", "a"}, exitUsage, "missing closing )"},
		{[]string{"--version", "v0.0.0-other", "a"}, exitUsage, "install both anew"},
		{[]string{"--swarm", s.Program, "other"}, exitFailed, "other"},
		{[]string{"--swarm", s.Program, "./other"}, exitFailed, "other"},
	} {
		var out, errs strings.Builder
		code := Run(tt.args, &out, &errs, s.Env)
		if code != tt.code || !strings.Contains(errs.String(), tt.want) || out.String() != "" {
			t.Errorf("%q: code %d, %q, out %q; want %d, %q", tt.args, code, errs.String(), out.String(), tt.code, tt.want)
		}
	}
	o, err := parse([]string{"--option", "a=b=c", "--option", "d=", "--parallel", "3", "--run", "^x$", "--json", "mine"}, &strings.Builder{})
	if err != nil || o.target != "mine" || o.parallel != 3 || !o.json || o.only.String() != "^x$" || !cmp.Equal(o.options, map[string]string{"a": "b=c", "d": ""}) {
		t.Errorf("parse: %+v, %v", o, err)
	}
}

// TestCommand makes the command of a worker from the user's words.
func TestCommand(t *testing.T) {
	t.Parallel()
	if (&options{}).script() != nil {
		t.Error("without words there is a command")
	}
	command := (&options{command: "run {name} -c {shell}"}).script()
	shell := script.Shell(script.Hold)
	if got, want := command(script.Hold), []string{"run", string(script.Hold), "-c", shell[len(shell)-1]}; !slices.Equal(got, want) {
		t.Errorf("the command is %q, want %q", got, want)
	}
	if got, want := command(script.Missing), script.Shell(script.Missing); !slices.Equal(got, want) {
		t.Errorf("the command that does not exist is %q, want %q", got, want)
	}
}

func TestShellBase(t *testing.T) {
	t.Parallel()
	dir := shellBase("echo text > file")(t)
	if text, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(text) != "text\n" {
		t.Errorf("the base has %q, %v", text, err)
	}
}

var results = []plugintest.Result{
	{Name: "kept", Rule: "It is kept.", Outcome: plugintest.OK, Took: 1234 * time.Millisecond, Log: []string{"a warning"}},
	{Name: "skipped", Rule: "It is skipped.", Outcome: plugintest.Skipped, Why: "no \x1b[31mcapability"},
	{
		Name: "broken.a", Rule: "It is\nbroken.", Outcome: plugintest.Failed, Took: 20 * time.Millisecond,
		Problems: []string{"first\x1b[2J", "second"},
	},
	{Name: "late", Rule: "It is cut off.", Outcome: plugintest.NotRun, Why: "the check was interrupted"},
}

// TestTable: the rows of cases, and what a reader needs of a broken rule.
func TestTable(t *testing.T) {
	t.Parallel()
	print := func(verbose bool) string {
		var out strings.Builder
		p := &printer{out: &out, target: "./mine", verbose: verbose}
		for _, r := range results {
			p.result(r)
		}
		report := plugintest.Report{Plugin: client.Info{Name: "mine", Version: "1.2", Kind: client.KindBackend}, Results: results}
		if err := p.summary(catalog.Entry{Name: "mine"}, report); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := `ok    kept                            1.23s
FAIL  broken.a                        20ms
      rule  It is
            broken.
      seen  first` + "\\x1b" + `[2J
      seen  second
      again swarm plugin check ./mine --run '^broken\.a$' --verbose

plugin 'mine' 1.2 (backend): 1 rules kept, 1 broken, 1 skipped, 1 not run
`
	if diff := cmp.Diff(want, print(false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	verbose := print(true)
	for _, line := range []string{"\n      log   a warning\n", "\n-     skipped                         no "} {
		if !strings.Contains(verbose, line) {
			t.Errorf("verbose it lacks %q:\n%s", line, verbose)
		}
	}
	if strings.Contains(verbose, "\x1b") {
		t.Errorf("control characters reach the terminal: %q", verbose)
	}
}

// TestSummaryOfABrokenStart: the other rules were not checked.
func TestSummaryOfABrokenStart(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	report := plugintest.Report{Results: []plugintest.Result{{Outcome: plugintest.Failed}}}
	if err := (&printer{out: &out}).summary(catalog.Entry{Name: "mine"}, report); err != nil {
		t.Fatal(err)
	}
	if want := "\nplugin 'mine': 0 rules kept, 1 broken, 0 skipped; the others were not checked\n"; out.String() != want {
		t.Errorf("it printed %q, want %q", out.String(), want)
	}
}

// TestJSON: what is not known is null, and lists are never null.
func TestJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := writeJSON(&out, catalog.Entry{Name: "mine", Command: []string{"/bin/mine"}}, plugintest.Report{Results: results}); err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(out.Bytes(), '\x1b') {
		t.Errorf("control characters: %q", out.String())
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	cases, _ := got["cases"].([]any)
	delete(got, "cases")
	want := map[string]any{
		"path": "/bin/mine", "name": "mine", "version": nil, "kind": nil, "contract": nil, "local": false, "capabilities": []any{},
		"ok": 1.0, "failed": 1.0, "skipped": 1.0, "not_run": 1.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	first := map[string]any{"name": "kept", "rule": "It is kept.", "result": "ok", "why": nil, "problems": []any{}, "log": []any{"a warning"}, "seconds": 1.234}
	if len(cases) != 4 || !cmp.Equal(cases[0], any(first)) {
		t.Errorf("the cases are %v, want first %v", cases, first)
	}
}
