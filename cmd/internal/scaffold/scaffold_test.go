package scaffold_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/internal/scaffold"
)

const examples = "../../../docs/examples"

// TestExamples checks that the examples are what is written for authors: CI runs
// the former.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, p := range []scaffold.Plugin{
		{Name: "nice", Kind: "backend", Language: "go"},
		{Name: "nice", Kind: "backend", Language: "python"},
		{Name: "nice", Kind: "backend", Language: "typescript"},
		{Name: "scratch", Kind: "workspace", Language: "go"},
		{Name: "notes", Kind: "tools", Language: "go"},
		{Name: "notes", Kind: "tools", Language: "typescript"},
		{Name: "journal", Kind: "notifier", Language: "go"},
	} {
		folder := p.Kind + "-" + p.Language
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			p.Checkout = "../../.."
			files, err := p.Files()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				path := filepath.Join(examples, folder, f.Path)
				got, err := os.ReadFile(path)
				if err != nil {
					t.Error(err)
					continue
				}
				if f.Path == "go.mod" { // the example's is tidy
					begin, _, _ := strings.Cut(string(f.Data), "\nrequire")
					if !strings.HasPrefix(string(got), begin) || !strings.Contains(string(got), "=> ../../..\n") {
						t.Errorf("%s is\n%s", path, got)
					}
					continue
				}
				if diff := cmp.Diff(string(f.Data), string(got)); diff != "" {
					t.Errorf("%s is not what the template says; write it again with\n"+
						"\tswarm plugin new %s --kind %s --lang %s --dir DIR (-template +example):\n%s", path, p.Name, p.Kind, p.Language, diff)
				}
				if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o111 != f.Mode&0o111 {
					t.Errorf("%s has the mode %v", path, info.Mode())
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, kind, language, want string }{
		{"../x", "backend", "go", "not a name"},
		{"", "backend", "go", "not a name"},
		{"a.", "backend", "go", "not a name"},
		{"a b", "backend", "go", "not a name"},
		{"a", "backend", "cobol", "no template for the language 'cobol'"},
		{"a", "queue", "go", "no template for the kind 'queue'"},
		{"a", "tools", "python", "no template for the kind 'tools' in the language 'python'; there is one for each of: go, typescript"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		_, err := scaffold.Plugin{Name: test.name, Kind: test.kind, Language: test.language}.Write(dir)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q in %q: %v", test.name, test.language, err)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q in %q: the folder is there: %v", test.name, test.language, err)
		}
	}
}

// TestNothingIsOverwritten writes into folders of all kinds.
func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	p := scaffold.Plugin{Name: "mine", Kind: "backend", Language: "go"}
	dir := t.TempDir() // empty
	if _, err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("again: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(file); err == nil {
		t.Error("a file was taken for a folder")
	}
	if got, err := os.ReadFile(file); string(got) != "mine" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestCheckout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ checkout, want string }{
		{"", "go 1.26.0\n"},
		{"/src/swarm", "=> /src/swarm\n"},
		{"up", "=> ./up\n"},
		{"/my src", "=> \"/my src\"\n"},
	} {
		files, err := scaffold.Plugin{Name: "mine", Kind: "backend", Language: "go", Checkout: test.checkout}.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Path == "go.mod" && !strings.HasSuffix(string(f.Data), test.want) {
				t.Errorf("checkout %q:\n%s", test.checkout, f.Data)
			}
		}
	}
}
