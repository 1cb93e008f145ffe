package client

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestManyWatches: more directories are watched than a user has inotify instances, and each
// watch sees the changes of its own directory.
func TestManyWatches(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	watches := make([]*watch, 300)
	for i := range watches {
		dir := filepath.Join(top, strconv.Itoa(i/2)) // two watch each
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		w, err := newWatch(dir)
		if err != nil {
			t.Fatalf("watch %d: %v", i, err)
		}
		defer w.close()
		watches[i] = w
	}
	waited := func(w *watch) chan struct{} {
		done := make(chan struct{})
		go func() {
			w.wait()
			close(done)
		}()
		return done
	}
	within := func(done chan struct{}, what string) {
		t.Helper()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal(what)
		}
	}
	for _, i := range []int{0, 150, 299} {
		if err := os.WriteFile(filepath.Join(top, strconv.Itoa(i/2), "file"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		within(waited(watches[i]), "a change was not seen")
		within(waited(watches[i^1]), "a change was not seen by the other watch")
	}
	// One watch that is closed leaves the other of its directory.
	watches[4].close()
	if err := os.WriteFile(filepath.Join(top, "2", "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	within(waited(watches[5]), "the other watch saw nothing")
	quiet := waited(watches[10])
	select {
	case <-quiet:
		t.Error("a watch saw a change elsewhere")
	case <-time.After(50 * time.Millisecond):
	}
	watches[10].wake()
	within(quiet, "wake did not end the wait")
	within(waited(watches[10]), "a wait after wake did not end")
}

// TestWatchesComeAndGo: the instance goes with its last watch and comes again.
func TestWatchesComeAndGo(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		dir := t.TempDir()
		all.Go(func() {
			for i := range 100 {
				w, err := newWatch(dir)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
					t.Error(err)
				}
				w.wait()
				w.close()
			}
		})
	}
	all.Wait()
}
