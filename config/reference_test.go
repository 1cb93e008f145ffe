package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPage checks that docs/config.md has all keys. UPDATE_DOCS=1 writes them there.
func TestPage(t *testing.T) {
	t.Parallel()
	const page = "../docs/config.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, table := range map[string]string{"workers": WorkerKeys(), "others": OtherKeys()} {
		begin, end := "<!-- keys of "+name+": made of config/, see config/reference_test.go -->\n", "<!-- end of keys -->\n"
		head, rest, ok := strings.Cut(text, begin)
		old, tail, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no place for the keys of %s", page, name)
		}
		if diff := cmp.Diff(table, old); diff != "" && os.Getenv("UPDATE_DOCS") == "" {
			t.Errorf("%s lacks keys; UPDATE_DOCS=1 go test ./config -run TestPage writes them (-want +got):\n%s", page, diff)
		}
		text = head + begin + table + end + tail
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"memory", "cpus", "pids", "nice", "io_weight", "limits", "sandbox", "sandbox_network", "sandbox_home", "sandbox_write"} {
		if !strings.Contains(WorkerKeys(), "| `"+key+"` | ") || !strings.Contains(OtherKeys(), "| `defaults."+key+"` | ") {
			t.Errorf("%s is in no table", key)
		}
	}
}

// TestProjectExample checks that the example of a project has a first worker, and changes nothing
// else.
func TestProjectExample(t *testing.T) {
	t.Parallel()
	l, err := Load(Options{Project: write(t, ProjectFile, ProjectExample())})
	if err != nil || len(l.Ignored) > 0 {
		t.Fatalf("%v, %+v", err, l.Ignored)
	}
	if w := l.Config.Workers["hello"]; len(l.Config.Workers) != 1 || len(w.Command) != 3 {
		t.Errorf("%+v", l.Config.Workers)
	}
	l.Config.Workers = nil
	if diff := cmp.Diff(Default(), l.Config); diff != "" {
		t.Errorf("not the defaults (-want +got):\n%s", diff)
	}
}
