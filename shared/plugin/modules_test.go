package plugin_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModules checks what the author of a plugin gets with the SDK. A module more
// is a decision, not an accident: it ends up in every plugin that there is.
func TestModules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pkg, list string }{
		{"github.com/swarmhost/swarm/shared/swarm", "testdata/modules-swarm.txt"},
		{"github.com/swarmhost/swarm/shared/plugin", "testdata/modules-plugin.txt"},
	} {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", test.pkg).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		got := strings.Fields(string(out))
		slices.Sort(got)
		got = slices.Compact(got)
		want, err := os.ReadFile(test.list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Fields(string(want)), got); diff != "" {
			t.Errorf("%s pulls in other modules than %s says (-list +now):\n%s", test.pkg, test.list, diff)
		}
	}
}
