package system

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/doctor"
)

// TestPrintFindings shows how each finding is mended, below it, and no text of others as it is.
func TestPrintFindings(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.New()
	printFindings(a, []doctor.Finding{
		{Severity: doctor.SeverityOK, Subject: "workers", What: "3"},
		{Severity: doctor.SeverityError, Subject: "database", What: "damaged \x1b[31m", Mend: "run 'swarm doctor --rebuild'"},
	})
	want := "ok       workers: 3\n" +
		"error    database: damaged \\x1b[31m\n" +
		"         mend: run 'swarm doctor --rebuild'\n"
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
}

// TestFindingsJSON has null, and not an empty text, where nothing is to be mended.
func TestFindingsJSON(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.New()
	findings := []doctor.Finding{{Severity: doctor.SeverityNote, Subject: "git", What: "missing"}, {Severity: doctor.SeverityError, Subject: "x", What: "y", Mend: "z"}}
	if err := a.PrintJSON(findingsJSON(findings)); err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "severity": "note",
    "subject": "git",
    "what": "missing",
    "mend": null
  },
  {
    "severity": "error",
    "subject": "x",
    "what": "y",
    "mend": "z"
  }
]
`
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
}

// TestConfigFindings reads what can be read of a config file with a mistake.
func TestConfigFindings(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.WithState(t)
	_, findings, err := configFindings(a)
	if err != nil {
		t.Fatal(err)
	}
	want := []doctor.Finding{{Severity: doctor.SeverityOK, Subject: "config", What: "no problems"}}
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Errorf("without a file (-want +got):\n%s", diff)
	}

	file := filepath.Join(a.Getenv("HOME"), ".config", "swarm", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[defaults]\nretain = \"none\"\nbackends = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, findings, err := configFindings(a)
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != 1 || findings[0].Severity != doctor.SeverityError || findings[0].Mend != "edit the file" {
		t.Errorf("with a mistake: %+v", findings)
	}
	if got := loaded.Config.Defaults.Retain; got != "none" {
		t.Errorf("the rest of the file was not read: retain %q", got)
	}
}

// TestWantedPlugins has the backend of each declared worker, and the workspace of those that have one.
func TestWantedPlugins(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Defaults.Backend = "tmux"
	cfg.Workers = map[string]config.Worker{"w": {Backend: "ssh", Workspace: config.Workspace{Use: true, Plugin: "worktree"}}}
	if diff := cmp.Diff([]string{"tmux", "ssh", "worktree"}, wantedPlugins(cfg)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
