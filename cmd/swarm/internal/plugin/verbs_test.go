package plugin

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

// TestInstallRefuses refuses wrong addresses and missing files before anything is downloaded or started.
func TestInstallRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{
		"http://example.com/swarm-plugin-x":     "use https://",
		"https://me:pw@example.com/x":           "a user or a password is refused",
		"https://example.com/x.tar.gz":          "an archive is named swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz",
		"me@example.com:plugins/swarm-plugin-x": "use https://",
		"github.com/someone":                    "expected github.com/OWNER/REPO",
		"queue":                                 "no file 'queue' here, and no index",
		"acme/queue":                            "no index 'acme': none was added",
		"./swarm-plugin-x --sha256 9f86":        "expected 64 hexadecimal digits",
		"./swarm-plugin-x":                      "swarm-plugin-x",
		"":                                      "missing argument: a plugin or an archive",
	} {
		a, stdout, _ := apptest.WithState(t)
		err := apptest.Run(t, newInstall(a), strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw@") || stdout.Len() > 0 {
			t.Errorf("%s: %v, want %q; stdout %q", args, err, want, stdout)
		}
		if _, err := os.Stat(filepath.Join(a.Getenv("SWARM_DIR"), "plugins")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestNew writes a plugin to begin with, into a folder that is empty or not there.
func TestNew(t *testing.T) {
	t.Chdir(t.TempDir())
	a, stdout, stderr := apptest.New()
	if err := apptest.Run(t, newNew(a), "mine"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stdout.String(), "created swarm-plugin-mine/backend.go\n") {
		t.Errorf("stdout %q", stdout)
	}
	// The program of a test was not released.
	if got := stderr.String(); !strings.HasPrefix(got, "swarm: read swarm-plugin-mine/README.md for what is next\n") || !strings.Contains(got, "--checkout DIR") {
		t.Errorf("stderr %q", got)
	}
	stderr.Reset()
	if err := os.MkdirAll("checkout/shared/plugin", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := apptest.Run(t, newNew(a), "other", "--dir", "there/it", "--checkout", "checkout"); err != nil {
		t.Fatal(err)
	}
	if got := stderr.String(); strings.Contains(got, "--checkout") {
		t.Errorf("with a checkout: %q", got)
	}
	mod, err := os.ReadFile("there/it/go.mod")
	if err != nil || !strings.Contains(string(mod), "replace github.com/swarmhost/swarm => /") {
		t.Errorf("go.mod %q, %v", mod, err)
	}
	for args, want := range map[string]string{
		"mine":                       "the folder swarm-plugin-mine is not empty",
		"../x":                       "'../x' is not a name for a plugin",
		"x --lang cobol":             "no template for the language 'cobol'",
		"x --dir new/x --checkout .": "'.' is not a checkout of swarm: no such file or directory",
		"":                           "missing argument: NAME",
	} {
		stdout.Reset()
		if err := apptest.Run(t, newNew(a), strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) || stdout.Len() > 0 {
			t.Errorf("%s: %v, want %q; stdout %q", args, err, want, stdout)
		}
	}
	left, err := filepath.Glob("*")
	if diff := cmp.Diff([]string{"checkout", "swarm-plugin-mine", "there"}, left); diff != "" || err != nil {
		t.Errorf("files (-want +got):\n%s, %v", diff, err)
	}
}

func TestIsFromCheckout(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"(devel)": true, "unknown": true, "v0.0.0-20261128190114-240e8dd0abcd": true, "v1.2.0+dirty": true, "v1.2.0": false, "v1.2.0-rc.1": false,
	} {
		if got := isFromCheckout(version); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}

// aPlugin is one that was installed in two versions.
func aPlugin() pluginadmin.Detail {
	p := pluginadmin.Detail{Status: pluginadmin.Status{Name: "queue", Kind: "backend", Version: "1.2.0", Path: "/p/swarm-plugin-queue", Capabilities: []string{"input", "watch"}}}
	p.Versions = []string{"1.1.0", "1.2.0"}
	return p
}

// TestList has a dash for what is not known, and why a plugin does not work.
func TestList(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.New()
	printPlugins(a, []pluginadmin.Status{aPlugin().Status, {Name: "odd", Err: errors.New("it said \x1b[1mno")}})
	lines := strings.Split(stdout.String(), "\n")
	for i, want := range []string{
		"NAME KIND VERSION CAPABILITIES HEALTH PATH",
		"queue backend 1.2.0 input,watch ok /p/swarm-plugin-queue (installed: 1.1.0, 1.2.0)",
		`odd - - - it said \x1b[1mno -`,
	} {
		if got := strings.Join(strings.Fields(lines[i]), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	a.Env, a.OutWidth = []string{"NO_COLOR=1"}, func() int { return 60 }
	stdout.Reset()
	printPlugins(a, []pluginadmin.Status{aPlugin().Status})
	for line := range strings.Lines(stdout.String()) {
		if output.Columns(strings.TrimSuffix(line, "\n")) > 60 || strings.Contains(line, "input") {
			t.Errorf("a terminal of 60 columns gets %q", line)
		}
	}
}

// TestInfo has the rows that are known, and JSON whose lists are never null.
func TestInfo(t *testing.T) {
	t.Parallel()
	p := aPlugin()
	p.Command = []string{p.Path, "--fast"}
	p.Installed = &catalog.Installed{Manifest: catalog.Manifest{
		Version: "1.2.0", Installed: time.Unix(0, 0), Provenance: catalog.Provenance{Source: "/d/queue.tar.gz"},
		Files: []catalog.File{{SHA256: strings.Repeat("ab", 32), Size: 7}},
	}}
	rows := map[string]string{}
	for _, row := range pluginInfoRows(p) {
		rows[row[0]] = row[1]
	}
	for what, want := range map[string]string{
		"arguments:": "--fast", "workers:": "elsewhere", "versions:": "1.1.0, 1.2.0", "size:": "7 bytes", "sha256:": strings.Repeat("ab", 32),
	} {
		if rows[what] != want {
			t.Errorf("%s %q, want %q", what, rows[what], want)
		}
	}
	if text, ok := rows["wanted version:"]; ok {
		t.Errorf("a version is wanted: %q", text)
	}
	data, err := json.Marshal(pluginInfoJSONOf(pluginadmin.Detail{}))
	if err != nil || strings.Contains(string(data), `"capabilities":null`) || strings.Contains(string(data), `"command":null`) {
		t.Errorf("%s, %v", data, err)
	}
}
