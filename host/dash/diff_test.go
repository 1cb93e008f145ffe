package dash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

const difference = `diff --git a/cart.go b/cart.go
index 1d2c3e4..5f6a7b8 100644
--- a/cart.go
+++ b/cart.go
@@ -3,3 +3,4 @@ import "fmt"
 same
--- a line that looks like a head
+++ another
+	tab ` + "\x1b[31m\u202e\xff" + `
 same
@@ -20 +21,0 @@
-last
\ No newline at end of file
diff --git a/old.go b/new.go
similarity index 98%
rename from old.go
rename to new.go
diff --git "a/na\303\257ve.png" "b/na\303\257ve.png"
new file mode 100644
index 0000000..1d2c3e4
Binary files /dev/null and "b/na\303\257ve.png" differ
diff --git a/a b.png b/a b.png
Binary files a/a b.png and b/a b.png differ
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-diff --git a/x b/x
`

// written returns parts as text.
func written(parts []DiffPart) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%s +%d -%d %q\n", p.Path, p.Added, p.Removed, p.Notes)
		for _, l := range p.Lines {
			fmt.Fprintf(&b, "%d %d|%s\n", l.Kind, l.Number, l.Text)
		}
	}
	return b.String()
}

const parsed = `cart.go +2 -2 []
3 0|@@ -3,3 +3,4 @@ import "fmt"
0 3|same
2 4|-- a line that looks like a head
1 4|++ another
1 5|        tab \x1b[31m\u202e\xff
0 6|same
3 0|@@ -20 +21,0 @@
2 20|last
4 0|No newline at end of file
new.go +0 -0 ["rename from old.go"]
naïve.png +0 -0 ["new file" "binary file"]
a b.png +0 -0 ["binary file"]
gone +0 -1 ["deleted file"]
3 0|@@ -1 +0,0 @@
2 1|diff --git a/x b/x
`

func TestParseDiff(t *testing.T) {
	t.Parallel()
	parts, more, err := parseDiff(strings.NewReader(difference))
	if diff := cmp.Diff(parsed, written(parts)); diff != "" || more || err != nil {
		t.Errorf("%v, %v (-want +got):\n%s", more, err, diff)
	}
	// As git writes it with colour.ui set to always.
	painted := "\x1b[1m" + strings.ReplaceAll(strings.ReplaceAll(difference, "\x1b[31m", `\x1b[31m`), "\n", "\x1b[m\n\x1b[32m")
	parts, _, _ = parseDiff(strings.NewReader(painted))
	if diff := cmp.Diff(parsed, written(parts)); diff != "" {
		t.Errorf("in colours (-want +got):\n%s", diff)
	}
}

// TestParseDiffWithoutPrefixes is about what git writes with diff.noprefix: directories whose
// names are git's prefixes keep them.
func TestParseDiffWithoutPrefixes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"diff --git b/x b/x\n--- b/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n":                                "b/x",
		"diff --git w/new w/new\nnew file mode 100644\n--- /dev/null\n+++ w/new\n":                   "w/new",
		"diff --git a/gone a/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n":            "a/gone",
		"diff --git a/bin a/bin\nBinary files a/bin and a/bin differ\n":                              "a/bin",
		"diff --git \"a/n\\303\\266\" \"a/n\\303\\266\"\n":                                           "a/nö",
		"diff --git a/old b/new\nrename from a/old\nrename to b/new\n--- a/old\n+++ b/new\n":         "b/new",
		"diff --git a/old b/new\ncopy from a/old\ncopy to b/new\n--- a/old\n+++ b/new\n":             "b/new",
		"diff --git a/b/x b/b/x\n--- a/b/x\n+++ b/b/x\n":                                             "b/x",
		"diff --git c/x w/x\n--- c/x\n+++ w/x\n":                                                     "x",
		"diff --git a/a/old b/b/new\nrename from a/old\nrename to b/new\n--- a/a/old\n+++ b/b/new\n": "b/new",
	} {
		if parts, _, err := parseDiff(strings.NewReader(text)); err != nil || len(parts) != 1 || parts[0].Path != want {
			t.Errorf("%q: %+v, %v, want %s", text, parts, err, want)
		}
	}
}

// TestDiffOfGit runs git with what a user may have configured.
func TestDiffOfGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) []string {
		return append([]string{"git", "-C", dir, "-c", "user.name=x", "-c", "user.email=x"}, args...)
	}
	for _, args := range [][]string{git("init", "-q"), git("commit", "-q", "--allow-empty", "-m", "x")} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for _, path := range []string{"b/x", "x y"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755), os.WriteFile(filepath.Join(dir, path), []byte("x\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "add", "--all").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, setting := range []string{"diff.noprefix", "diff.mnemonicPrefix", "core.bare"} {
		if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "config", setting, fmt.Sprint(setting != "core.bare")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		c, err := Diff(t.Context(), differ{git("diff", "--cached")}, "w")
		if err != nil || len(c.Parts) != 2 || c.Parts[0].Path != "b/x" || c.Parts[1].Path != "x y" {
			t.Errorf("%s: %+v, %v", setting, c.Parts, err)
		}
	}
	_, err := Diff(t.Context(), differ{git("diff", "no-such-commit", "--")}, "w")
	if err == nil || err.Error() != "cannot compare the workspace: bad revision 'no-such-commit' (exit status 128)" {
		t.Errorf("a diff that fails: %v", err)
	}
}

func TestParseDiffIsBounded(t *testing.T) {
	t.Parallel()
	head := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,9999999 @@\n"
	for name, text := range map[string]string{
		"lines": strings.Repeat("+x\n", 2*diffLines),
		"bytes": "+" + strings.Repeat("x", diffBytes) + "\n+y\n",
	} {
		parts, more, err := parseDiff(strings.NewReader(head + text))
		if err != nil || !more || len(parts) != 1 || len(parts[0].Lines) > diffLines {
			t.Fatalf("%s: %v, %v, %d parts", name, err, more, len(parts))
		}
		for _, l := range parts[0].Lines {
			if len(l.Text) > diffLine {
				t.Errorf("%s: a line of %d bytes", name, len(l.Text))
			}
		}
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add(difference)
	f.Add("@@ -1 +1 @@\n+\n-\n\\\ndiff \n")
	f.Fuzz(func(t *testing.T, text string) {
		parts, _, err := parseDiff(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range written(parts) {
			if c != '\n' && safetext.IsHidden(c) {
				t.Fatalf("%q is not harmless: %s", c, written(parts))
			}
		}
	})
}

// differ is a workspace plugin whose command says something.
type differ struct{ command []string }

func (d differ) Compare(context.Context, string, swarm.DiffOptions) (swarm.WorkspaceRef, swarm.Diff, error) {
	return swarm.WorkspaceRef{Branch: "b"}, swarm.Diff{Files: []swarm.FileChange{{Path: "x", Added: 1}}, Command: d.command}, nil
}

func TestDiff(t *testing.T) {
	t.Parallel()
	c, err := Diff(t.Context(), differ{[]string{"printf", "%s", difference}}, "w")
	if err != nil || c.Cut || len(c.Files) != 1 || c.Workspace.Branch != "b" || written(c.Parts) != parsed {
		t.Errorf("%v, %+v", err, c)
	}
	if c, err := Diff(t.Context(), differ{[]string{"yes", "+"}}, "w"); err != nil || !c.Cut {
		t.Errorf("without an end: %v, %v", err, c.Cut)
	}
	if _, err := Diff(t.Context(), differ{[]string{"false"}}, "w"); err == nil {
		t.Error("no error of a command that fails")
	}
	if _, err := Diff(t.Context(), differ{[]string{"/none"}}, "w"); err == nil {
		t.Error("no error of a command that is not there")
	}
}
