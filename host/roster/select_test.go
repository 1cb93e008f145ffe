package roster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

func TestLikelyBackend(t *testing.T) {
	t.Parallel()
	const one, two = `{"backend":"one"}`, `{"backend":"two"}`
	many := make([]string, 3*aheadMost)
	for i := range many {
		many[i] = one
	}
	for name, test := range map[string]struct {
		kept, left []string // worker.json of workers with a shim, and without
		want       string
	}{
		"no worker":           {},
		"one":                 {kept: []string{one}, want: "one"},
		"several of one":      {kept: []string{one, one}, want: "one"},
		"more than it looks":  {kept: many, want: "one"},
		"two backends":        {kept: []string{one, two}},
		"the other has ended": {kept: []string{two}, left: []string{one}, want: "two"},
		"all have ended":      {left: []string{one, one}},
		"a command":           {kept: []string{`{"backend":"one","plugin":{"command":["/tmp/evil"]}}`}},
		"damaged":             {kept: []string{one, `{"backend":`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := statedir.Dir(t.TempDir())
			r := &Roster{Dir: dir}
			for i, text := range slices.Concat(test.kept, test.left) {
				run := dir.RunDir(fmt.Sprint("id", i))
				if err := os.MkdirAll(run, 0o700); err != nil {
					t.Fatal(err)
				}
				files := map[string]string{rundir.WorkerFile: text}
				if i < len(test.kept) {
					files[rundir.Socket] = ""
				}
				for name, text := range files {
					if err := os.WriteFile(filepath.Join(run, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := r.likelyBackend(); got != test.want {
				t.Errorf("likely backend %q, want %q", got, test.want)
			}
		})
	}
}
