package system

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
)

// tree is a small tree of commands: a group with a verb, a topic of the help, and a hidden verb.
func tree() *cobra.Command {
	run := func(*cobra.Command, []string) error { return nil }
	root := &cobra.Command{Use: "swarm", Short: "Keep commands running"}
	group := &cobra.Command{Use: "team", Short: "Teams"}
	verb := &cobra.Command{
		Use: "create NAME", Short: "Create a team", RunE: run,
		Long:    "Create a team.\n.profile is 'read' once: a ~ and a \\ stay.\n\n  a column   another",
		Example: "  swarm team create web\n  swarm team create 'a b'",
	}
	verb.Flags().StringP("lead", "l", "", "the `NAME` of the leader")
	verb.Flags().Int("size", 3, "how many")
	verb.Flags().Bool("secret", false, "not shown")
	_ = verb.Flags().MarkHidden("secret")
	group.AddCommand(verb)
	root.AddCommand(group, &cobra.Command{Use: "files", Short: "Where files are"}, &cobra.Command{Use: "inner", Hidden: true, RunE: run})
	return root
}

// TestMan writes the pages of a tree and leaves other files alone.
func TestMan(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.New()
	a.Env = []string{"SOURCE_DATE_EPOCH=86400"}
	dir := filepath.Join(t.TempDir(), "new", "man1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other.1"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := apptest.Run(t, NewMan(a, tree), "--dir", dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		files[i] = filepath.Base(file)
	}
	if got, want := strings.Join(files, " "), "other.1 swarm-files.1 swarm-team-create.1 swarm-team.1 swarm.1"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	if got := stdout.String(); got != "wrote 4 pages\n" {
		t.Errorf("stdout %q", got)
	}
	page, err := os.ReadFile(filepath.Join(dir, "swarm-team-create.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".TH \"SWARM-TEAM-CREATE\" 1 \"1970-01-02\" \"swarm\" \"User Commands\"\n",
		"swarm\\-team\\-create \\- Create a team\n",
		// Roff takes no dot at the beginning of a line for a request, and changes no character.
		"\\&.profile is \\(aqread\\(aq once: a \\(ti and a \\e stay.\n",
		".nf\n  a column   another\n.fi\n",
		".TP\n\\fB\\-l\\fR, \\fB\\-\\-lead\\fR \\fINAME\\fR\nthe NAME of the leader\n",
		"how many (default 3)\n",
		"swarm team create web\nswarm team create \\(aqa b\\(aq\n.fi\n",
		".SH SEE ALSO\n.BR swarm\\-team (1)\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(string(page), "secret") {
		t.Error("the page shows a hidden flag")
	}
}

func TestManRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env, want string
		args      []string
	}{
		"no directory": {"", "required flag --dir not set", nil},
		"a bad date":   {"SOURCE_DATE_EPOCH=now", "not a number of seconds: 'now'", []string{"--dir", filepath.Join(t.TempDir(), "man")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, _ := apptest.New()
			a.Env = []string{test.env}
			if err := apptest.Run(t, NewMan(a, tree), test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if len(test.args) > 1 {
				if _, err := os.Stat(test.args[1]); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the directory was made: %v", err)
				}
			}
		})
	}
}

// TestCompletion has a script for each shell; that for bash complains where its functions are
// missing.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]string{
		"bash": "swarm: completion needs the package bash-completion",
		"zsh":  "#compdef swarm",
		"fish": "complete -c swarm",
	} {
		a, stdout, _ := apptest.New()
		root := tree()
		root.AddCommand(NewCompletion(a))
		if err := apptest.Run(t, root, "completion", shell); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%s: the script lacks %q", shell, want)
		}
	}
	a, stdout, _ := apptest.New()
	err := apptest.Run(t, NewCompletion(a), "csh")
	if _, ok := errors.AsType[*output.UsageError](err); !ok || stdout.Len() > 0 {
		t.Errorf("csh: %v, stdout %q", err, stdout)
	}
}
