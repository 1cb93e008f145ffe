package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestLastLines reads logs with what programs do to a terminal: both streams, progress that is
// drawn over, colours, and a line without an end.
func TestLastLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log strings.Builder
	for _, record := range []string{
		"stdout F one", "stderr F two", "stdout P thr", "stdout F ee  ", "stdout F 10%\r50%\rdone", "stderr F \x1b[31mred\x1b[0m\r",
		"stdout F ", "stdout F sp\xffam", "stdout P prompt> ", "stderr P \x1b]0;title\x07end",
	} {
		log.WriteString("2026-01-02T03:04:05.000000001Z " + record + "\n")
	}
	status := rundir.EncodeStatus(rundir.Status{Version: rundir.StatusVersion, ID: "x", State: rundir.StateEnded})
	for name, text := range map[string]string{rundir.LogFile: log.String(), rundir.StatusFile: string(status)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"one", "two", "three", "done", "red", "", "sp\uFFFDam", "prompt>", "end"}
	for _, n := range []int{3, 24} {
		got, err := lastLines(t.Context(), dir, n, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[max(0, len(all)-n):], got); diff != "" {
			t.Errorf("the last %d lines (-want +got):\n%s", n, diff)
		}
	}
}
