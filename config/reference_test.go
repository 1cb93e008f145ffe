package config

import (
	"fmt"
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
	for name, table := range map[string]string{"workers": workerKeys(), "others": otherKeys()} {
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
		if !strings.Contains(workerKeys(), "| `"+key+"` | ") || !strings.Contains(otherKeys(), "| `defaults."+key+"` | ") {
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

// workerKeys returns a table in Markdown of all keys of [workers.NAME], and otherKeys one of all
// others. They are made of the fields that decode them; docs/config.md has them, and a test
// holds it.
func workerKeys() string {
	var b strings.Builder
	keyTable(&b, "", "workers.*.", workerFields(), nil)
	return b.String()
}

// otherKeys is explained at [workerKeys].
func otherKeys() string {
	var b strings.Builder
	keyTable(&b, "", "", fields(), new(Default()))
	keyRows(&b, "plugins.NAME.", "plugins.*.", pluginFields(), nil)
	keyRows(&b, "hooks.", "hooks.", hookFields(), nil)
	keyRows(&b, answersKey+".", answersKey+".", answerFields(), nil)
	return b.String()
}

func keyTable[T any](b *strings.Builder, shown, ruled string, fields []field[T], defaults *T) {
	b.WriteString("| key | | default | in a project's file that is not trusted |\n|---|---|---|---|\n")
	keyRows(b, shown, ruled, fields, defaults)
}

func keyRows[T any](b *strings.Builder, shown, ruled string, fields []field[T], defaults *T) {
	for _, f := range fields {
		otherwise := ""
		if defaults != nil {
			if value := f.show(defaults); value != "" {
				otherwise = "`" + value + "`"
			}
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", shown+f.key, strings.ReplaceAll(f.doc, "|", "\\|"), otherwise, ruleOf(ruled+f.key).inDocs())
	}
}

// inDocs says what a file may do that is not trusted.
func (r rule) inDocs() string {
	switch {
	case r.why == whyOwn:
		return "no: in your own file only"
	case r.why == whyAsk:
		return "only with answer = \"ask\", trusted or not"
	case r.refused == nil:
		return "yes"
	case r.inside:
		return "within the project"
	case r.paths != nil:
		return "no path that leads out of the project"
	case r.why == whyLoosens:
		return "no looser than your own"
	default:
		return "no"
	}
}
