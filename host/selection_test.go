package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestStartAhead has a second host guess the backend of a worker that the first one
// spawned.
func TestStartAhead(t *testing.T) {
	t.Parallel()
	first := newRig(t)
	w := first.spawn(t, "w", "one")
	if err := os.WriteFile(filepath.Join(first.dir.RunDir(w.ID), rundir.Socket), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := rigIn(t, first.root)
	for range 2 { // the second call knows the backend
		if got := r.get(t, "w"); got.Status != StatusRunning {
			t.Fatalf("status %s", got.Status)
		}
	}
	if want := []string{"one"}; !slices.Equal(r.plugins.ahead, want) {
		t.Errorf("started ahead: %q, want %q", r.plugins.ahead, want)
	}
}

func TestSpawnStartsAhead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "plain", "one")
	r.spawn(t, "tree", "one", withTree)
	if want := []string{"one", "one", "worktree"}; !slices.Equal(r.plugins.ahead, want) {
		t.Errorf("started ahead: %q, want %q", r.plugins.ahead, want)
	}
}

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
			r := newRig(t)
			for i, text := range slices.Concat(test.kept, test.left) {
				dir := r.dir.RunDir(fmt.Sprint("id", i))
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				files := map[string]string{rundir.WorkerFile: text}
				if i < len(test.kept) {
					files[rundir.Socket] = ""
				}
				for name, text := range files {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
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
