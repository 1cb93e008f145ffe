package lockfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/lockfile"
)

// TestAlone: a lock is held by one at a time, or by those who share it, although its file
// goes again and again; and no file stays.
func TestAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "locks", "w")
	var alone, shared, held atomic.Int32
	var all sync.WaitGroup
	for i := range 9 {
		all.Go(func() {
			for range 100 {
				var unlock func()
				var err error
				mine := &alone
				switch i % 3 {
				case 0:
					unlock, err = lockfile.Lock(t.Context(), path)
				case 1:
					unlock, err = lockfile.Try(path)
				default:
					mine = &shared
					unlock, err = lockfile.Share(t.Context(), path)
				}
				if err != nil {
					t.Error(err)
				}
				if unlock == nil {
					continue
				}
				held.Add(1)
				mine.Add(1)
				a, s := alone.Load(), shared.Load()
				if a > 1 || a == 1 && s > 0 && mine == &alone {
					t.Errorf("%d hold it alone, %d share it", a, s)
				}
				if mine == &alone && !lockfile.IsHeld(path) {
					t.Error("it does not look held")
				}
				mine.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if held.Load() < 600 {
		t.Errorf("held %d times", held.Load())
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file is left")
	}
}

// TestShare: the last of those who share a lock removes its file, and who waits for it
// alone gets it then.
func TestShare(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w")
	share := func() func() {
		unlock, err := lockfile.Share(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return unlock
	}
	first, second := share(), share()
	first()
	if unlock, err := lockfile.Try(path); unlock != nil || err != nil {
		t.Errorf("taken although it is shared: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
	second()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file is left")
	}
}

// TestGivenUp: who does not get a lock leaves it alone.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w")
	unlock, err := lockfile.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := lockfile.Lock(ctx, path); got != nil || err == nil {
		t.Errorf("got %t, %v", got != nil, err)
	}
	if !lockfile.IsHeld(path) {
		t.Error("it is not held any more")
	}
	unlock()
	if lockfile.IsHeld(path) {
		t.Error("it is still held")
	}
}

// TestSweep: the files of killed holders go, those of held and of new locks stay, and a lock
// is held by one at a time while files go under the holders' hands.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	put := func(name string) string {
		path := filepath.Join(dir, name)
		err := os.WriteFile(path, nil, 0o600)
		if err = errors.Join(err, os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	free, held, shared, fresh := put("free"), put("held"), put("shared"), put("fresh")
	if err := os.Chtimes(fresh, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "dir"), 0o700), os.Symlink(held, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockfile.Lock(t.Context(), held)
	if err != nil {
		t.Fatal(err)
	}
	release, err := lockfile.Share(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := lockfile.Sweep(dir, time.Minute); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := os.Lstat(free); err == nil {
		t.Error("the file of a lock that nothing holds is left")
	}
	for _, path := range []string{held, shared, fresh, filepath.Join(dir, "dir"), filepath.Join(dir, "link")} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	if !lockfile.IsHeld(held) {
		t.Error("a held lock was released")
	}
	unlock()
	release()
	if n, err := lockfile.Sweep(filepath.Join(dir, "none"), 0); n != 0 || err != nil {
		t.Errorf("no directory: %d, %v", n, err)
	}
}

// TestSweepAlone: a sweep never lets two processes hold a lock.
func TestSweepAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "w")
	var held atomic.Int32
	var all sync.WaitGroup
	stop := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := lockfile.Sweep(dir, 0); err != nil {
				t.Error(err)
			}
		}
	})
	for range 4 {
		all.Go(func() {
			for range 200 {
				unlock, err := lockfile.Lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := held.Add(1); n > 1 {
					t.Errorf("%d hold it", n)
				}
				held.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	close(stop)
	sweeping.Wait()
}

// TestSign: a lock says which process holds it, once that has signed it.
func TestSign(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "w")
	if _, ok := lockfile.HolderOf(path); ok {
		t.Error("a lock that does not exist has a holder")
	}
	unlock, err := lockfile.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if h, ok := lockfile.HolderOf(path); ok {
		t.Errorf("a lock without a signature has the holder %+v", h)
	}
	if err := lockfile.Sign(path); err != nil {
		t.Fatal(err)
	}
	if h, ok := lockfile.HolderOf(path); !ok || h.Process.PID != os.Getpid() || !h.Process.Alive() || time.Since(h.Since) > time.Minute {
		t.Errorf("the holder is %+v, %t", h, ok)
	}
}
