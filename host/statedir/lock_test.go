package statedir_test

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/swarmhost/swarm/host/statedir"
)

// TestLockFilesGo checks that a lock has one holder at a time although its file is removed each time,
// and that no file stays.
func TestLockFilesGo(t *testing.T) {
	t.Parallel()
	dir := statedir.Dir(t.TempDir())
	var holders, held atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				var unlock func()
				var err error
				if i%2 == 0 {
					unlock, err = dir.Lock(t.Context(), "w")
				} else {
					unlock, err = dir.TryLock("w")
				}
				if err != nil {
					t.Error(err)
				}
				if unlock == nil {
					continue
				}
				held.Add(1)
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				if !dir.Locked("w") {
					t.Error("it does not look held")
				}
				holders.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if held.Load() < 400 {
		t.Errorf("held %d times", held.Load())
	}
	if left, err := os.ReadDir(dir.LockPath("")); err != nil || len(left) > 0 {
		t.Errorf("files of locks are left: %v, %v", left, err)
	}
}
