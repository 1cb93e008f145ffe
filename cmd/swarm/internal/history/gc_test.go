package history

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/host/registry"
)

// TestGCReportsWhatWasDone: a step that fails does not hide what an earlier one has done.
func TestGCReportsWhatWasDone(t *testing.T) {
	t.Parallel()
	for _, asJSON := range []bool{true, false} {
		a, stdout, _ := apptest.WithState(t)
		dir, err := a.StateDir()
		if err != nil {
			t.Fatal(err)
		}
		reg, err := registry.Open(t.Context(), dir)
		if err == nil {
			err = reg.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", filepath.Join(dir, registry.File))
		if err == nil {
			// Workers can't be read: their table is another one.
			_, err = db.ExecContext(t.Context(), "INSERT INTO events (time_ns, worker_id, worker, kind) VALUES (1, 'id', 'w', 'SPAWNED'); ALTER TABLE workers RENAME COLUMN backend TO b")
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := runGC(t.Context(), a, asJSON, new(time.Hour)); err == nil || !strings.Contains(err.Error(), "backend") {
			t.Errorf("json %t: %v", asJSON, err)
		}
		if !asJSON {
			if got := stdout.String(); got != "removed 1 event\n" {
				t.Errorf("printed %q", got)
			}
			continue
		}
		var got struct {
			Events int `json:"removed_events"`
		}
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.Events != 1 {
			t.Errorf("printed %s: %v", stdout, err)
		}
	}
}
