package registry

import (
	"testing"
	"time"
)

// TestLook: without notices of the kernel, changes and another database are found all the same.
func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	c := &Changes{C: make(chan struct{}, 1), Failed: make(chan error, 1), dir: dir, done: make(chan struct{}), closed: make(chan struct{})}
	go c.look()
	changed := func() {
		t.Helper()
		select {
		case <-c.C:
		case <-time.After(20 * time.Second):
			t.Fatal("the change was not found")
		}
	}
	time.Sleep(lookEvery / 10) // the first look has ended then; a change before it would be missed
	insert(t, r, bare("a"))
	changed()
	if c.Replaced() {
		t.Error("it is the same database")
	}
	if _, err := SetAside(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	changed()
	if !c.Replaced() {
		t.Error("it is another database")
	}
	c.Close()
}
