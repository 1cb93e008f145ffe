//go:build linux

package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// withJournal gives the shim's run directory a journal.
func withJournal(t *testing.T, dir string) (journal string) {
	t.Helper()
	journal = t.TempDir()
	if err := os.Symlink(journal, filepath.Join(dir, rundir.JournalLink)); err != nil {
		t.Fatal(err)
	}
	return journal
}

func entries(t *testing.T, journal string) []string {
	t.Helper()
	found, err := os.ReadDir(journal)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

// The host is notified of an end after that is durable, and before any client is. A shim
// that is killed before reports nothing.
func TestJournalReportsEnd(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"drained", "written", "renamed", "ended", "noted", "answered"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			journal := withJournal(t, dir)
			s := start(t, launch("exec sleep 999"), options{
				program: failingPath, dir: dir,
				env: []string{"SWARM_SHIM_FAIL=" + point},
			})
			if got := entries(t, journal); len(got) > 0 {
				t.Errorf("while it runs: %q", got)
			}
			s.ask(killLine("SIGTERM", limit, true))
			s.leaves()
			want := []string{}
			if point == "noted" || point == "answered" {
				want = append(want, s.status().ID)
			}
			if diff := cmp.Diff(want, entries(t, journal)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// The host is notified of a completion, with an entry that the end takes the place of, also
// if it was removed meanwhile.
func TestJournalReportsCompletion(t *testing.T) {
	t.Parallel()
	for _, drained := range []bool{false, true} {
		dir := t.TempDir()
		journal := withJournal(t, dir)
		s := start(t, launch("exec sleep 999"), options{dir: dir})
		id := s.status().ID
		if a := s.ask("complete signal=SIGTERM grace=600000 force=1 mode=tree summary=done"); !slices.Equal(a, []string{"ok"}) {
			t.Fatalf("answered %q", a)
		}
		if got := entries(t, journal); !slices.Equal(got, []string{rundir.JournalEntry(id, 1)}) {
			t.Errorf("after the completion: %q", got)
		}
		if drained {
			if err := os.Remove(filepath.Join(journal, rundir.JournalEntry(id, 1))); err != nil {
				t.Fatal(err)
			}
		}
		s.ask(killLine("SIGTERM", limit, true))
		s.leaves()
		if got := entries(t, journal); !slices.Equal(got, []string{id}) {
			t.Errorf("after the end: %q", got)
		}
	}
}

// An entry is a link to the status, which takes no new file; where the journal is on
// another file system, it is a file of its own.
func TestJournalEntryIsALink(t *testing.T) {
	t.Parallel()
	for name, parent := range map[string]string{"same file system": t.TempDir(), "another file system": "/dev/shm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journal, err := os.MkdirTemp(parent, "journal") //nolint:usetesting // one of them is on another file system
			must(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(journal) })
			dir := t.TempDir()
			must(t, os.Symlink(journal, filepath.Join(dir, rundir.JournalLink)))
			s := start(t, launch("exit 0"), options{dir: dir})
			s.leaves()
			status, err := os.Stat(filepath.Join(dir, rundir.StatusFile))
			must(t, err)
			entry, err := os.Lstat(filepath.Join(journal, s.status().ID))
			must(t, err)
			if got := os.SameFile(status, entry); got != (name == "same file system") {
				t.Errorf("a link: %t", got)
			}
		})
	}
}
