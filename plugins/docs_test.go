// Package plugins_test compares the pages about the plugins that come with swarm with what these announce.
package plugins_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/copy"
	"github.com/swarmhost/swarm/plugins/nomad"
	"github.com/swarmhost/swarm/plugins/notify"
	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/plugins/tmux"
	"github.com/swarmhost/swarm/plugins/worktree"
	"github.com/swarmhost/swarm/shared/schema"
)

// TestPages checks that the pages have all settings and options. UPDATE_DOCS=1 writes them there.
func TestPages(t *testing.T) {
	t.Parallel()
	for page, tables := range map[string]map[string]table{
		"containers.md": {"settings of container": settings[container.Config](), "options of container": options[container.Options]()},
		"nomad.md":      {"settings of nomad": settings[nomad.Config](), "options of nomad": options[nomad.Options]()},
		"ssh.md":        {"settings of ssh": settings[ssh.Config](), "options of ssh": options[ssh.Options]()},
		"hooks.md":      {"settings of notify": settings[notify.Config]()},
		"workspaces.md": {"options of copy": options[copy.Options]()},
		"plugins.md":    {"options of tmux": options[tmux.Options](), "settings of worktree": settings[worktree.Config]()},
	} {
		path := "../docs/" + page
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		updated := string(text)
		for name, of := range tables {
			updated = replaced(t, page, name, of, updated)
		}
		if os.Getenv("UPDATE_DOCS") == "" {
			if diff := cmp.Diff(updated, string(text)); diff != "" {
				t.Errorf("%s is not what the plugins announce; UPDATE_DOCS=1 go test ./plugins writes it (-want +got):\n%s", page, diff)
			}
		} else if err := os.WriteFile(path, []byte(updated), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// replaced returns the text of a page with a table as it has to be.
func replaced(t *testing.T, page, name string, of table, text string) string {
	t.Helper()
	s, err := of.read(of.fields)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for row := range s.Properties {
		if s.Properties[row].Description == "" {
			t.Errorf("%s: %s has no help", name, row)
		}
	}
	begin, end := "<!-- "+name+": made of plugins/, see plugins/docs_test.go -->\n", "<!-- end of "+name+" -->\n"
	head, rest, ok := strings.Cut(text, begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the %s", page, name)
	}
	return head + begin + s.Markdown() + end + tail
}

// table is made of the fields of a struct.
type table struct {
	read   func(reflect.Type) (*schema.Schema, error)
	fields reflect.Type
}

func settings[T any]() table { return table{schema.Of, reflect.TypeFor[T]()} }

func options[T any]() table { return table{schema.OfOptions, reflect.TypeFor[T]()} }
