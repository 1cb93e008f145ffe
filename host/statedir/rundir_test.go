package statedir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestDropUnstarted: a run directory is removed, also if a process was killed while it did
// that, and one in which a shim has written its status comes back.
func TestDropUnstarted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		made, file string
		left       []string
		fails      bool
	}{
		"no directory":                    {},
		"a directory":                     {made: "w", file: rundir.LaunchFile},
		"one that was set aside":          {made: "w.interrupted", file: rundir.LaunchFile},
		"a shim was faster":               {made: "w", file: rundir.StatusFile, left: []string{"w"}, fails: true},
		"one with a shim, set aside once": {made: "w.interrupted", file: rundir.StatusFile, left: []string{"w"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Dir(t.TempDir())
			if tt.made != "" {
				if err := os.MkdirAll(d.RunDir(tt.made), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(d.RunDir(tt.made), tt.file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.DropUnstarted("w"); (err != nil) != tt.fails {
				t.Errorf("error %v", err)
			}
			left, err := d.RunDirs()
			if err != nil || len(left) != len(tt.left) || len(left) == 1 && left[0] != tt.left[0] {
				t.Errorf("left %q, %v; want %q", left, err, tt.left)
			}
		})
	}
}
