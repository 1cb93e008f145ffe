package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	writer "github.com/swarmhost/swarm/shared/shim/server/record"
	"github.com/swarmhost/swarm/shared/swarm"
)

// writeSegment writes the lines from first to last as file i of a log.
func writeSegment(t *testing.T, dir string, i, first, last int) {
	t.Helper()
	var text []byte
	for n := first; n <= last; n++ {
		text = fmt.Appendf(text, "2026-01-02T03:04:05.%09dZ stdout F line %d\n", n, n)
	}
	if err := os.WriteFile(filepath.Join(dir, rundir.LogName(i)), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOutputFromAPosition interrupts a reader after every piece, rotates the log, and reads
// on: no line is lost, and none comes twice.
func TestOutputFromAPosition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSegment(t, dir, 1, 1, 3)
	writeSegment(t, dir, 0, 4, 6)
	enough := errors.New("enough")
	var got []string
	var at Position
	for rotated := false; len(got) < 9; {
		err := OutputFrom(t.Context(), dir, at, swarm.OutputOptions{}, func(o swarm.Output, p Position) error {
			got, at = append(got, string(o.Data)), p
			return enough
		})
		if err == nil {
			break
		}
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		if len(got) == 5 && !rotated {
			rotated = true
			for i := 1; i >= 0; i-- {
				if err := os.Rename(filepath.Join(dir, rundir.LogName(i)), filepath.Join(dir, rundir.LogName(i+1))); err != nil {
					t.Fatal(err)
				}
			}
			writeSegment(t, dir, 0, 7, 8)
		}
	}
	var want []string
	for n := 1; n <= 8; n++ {
		want = append(want, fmt.Sprintf("line %d", n))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestOutputFromADroppedPosition continues with the oldest output that is kept.
func TestOutputFromADroppedPosition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSegment(t, dir, 0, 4, 4)
	if rundir.LogName(0) != rundir.LogFile {
		t.Fatal("the newest file has another name")
	}
	var got []string
	err := OutputFrom(t.Context(), dir, Position{File: 1, Offset: 7}, swarm.OutputOptions{}, func(o swarm.Output, _ Position) error {
		got = append(got, string(o.Data))
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"line 4"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestOutputFromAnInodeOfBefore continues with the oldest output that is kept if the file was
// dropped and a newer one has its inode.
func TestOutputFromAnInodeOfBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	records := func(second int, text string) []byte {
		return fmt.Appendf(nil, "2026-01-02T03:04:%02d.000000000Z stdout F %s\n", second, text)
	}
	name := filepath.Join(dir, rundir.LogName(0))
	if err := os.WriteFile(name, records(1, "first"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	var at Position
	read := func() {
		err := OutputFrom(t.Context(), dir, at, swarm.OutputOptions{}, func(o swarm.Output, p Position) error {
			got, at = append(got, string(o.Data)), p
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read()
	// The same inode with other output.
	if err := os.WriteFile(name, append(records(2, "second"), records(3, "third")...), 0o600); err != nil {
		t.Fatal(err)
	}
	read()
	if want := []string{"first", "second", "third"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestOutputFromOneReadInManyFiles reads piece by piece what a worker wrote at once, while the
// limit of its log is so low that this fills several files.
func TestOutputFromOneReadInManyFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	log, err := writer.OpenLog(1, new(sync.Mutex))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for at := range 2 { // the same time for both
		var written []byte
		for n := range 8 {
			written = fmt.Appendf(written, "line %d\n", 8*at+n)
		}
		log.Append(writer.Stdout, written, now)
	}
	if _, err := os.Stat(filepath.Join(dir, rundir.LogName(2))); err != nil {
		t.Fatalf("the lines are in too few files: %v", err)
	}
	enough := errors.New("enough")
	var got []string
	var at Position
	for range 20 {
		err := OutputFrom(t.Context(), dir, at, swarm.OutputOptions{}, func(o swarm.Output, p Position) error {
			got, at = append(got, string(o.Data)), p
			return enough
		})
		if err == nil {
			break
		}
	}
	var want []string
	for n := range 16 {
		want = append(want, fmt.Sprintf("line %d", n))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
