package pluginlogs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/pluginlogs"
)

func begin(dir string, pid int) *pluginlogs.Writer {
	w := &pluginlogs.Writer{Dir: dir, Plugin: "x"}
	w.Begin(pluginlogs.Run{PID: pid, Began: time.Unix(int64(pid), 0).UTC(), Command: "swarm ls"})
	return w
}

func say(t *testing.T, w *pluginlogs.Writer, text string) {
	t.Helper()
	if _, err := w.Write([]byte(text)); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, dir string, lines *int) (got []string) {
	t.Helper()
	err := pluginlogs.Read(t.Context(), dir, "x", pluginlogs.Options{Lines: lines}, func(e pluginlogs.Entry) error {
		got = append(got, fmt.Sprint(e.PID, " ", e.Text, e.End))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	silent := begin(dir, 1)
	silent.End("ended by swarm")
	if pluginlogs.Has(dir, "x") {
		t.Error("a plugin that said nothing has a log")
	}
	w := begin(dir, 2)
	say(t, w, "one\ntw")
	say(t, w, "o\nthree")
	w.End("exit status 3")
	say(t, begin(dir, 3), "four\n\nfive\n") // killed with its host
	if diff := cmp.Diff([]string{"2 one", "2 two", "2 three", "2 exit status 3", "3 four\n\nfive"}, read(t, dir, nil)); diff != "" {
		t.Error(diff)
	}
	for n, want := range map[int][]string{0: nil, 1: {"3 five"}, 4: {"2 three", "2 exit status 3", "3 four\n\nfive"}} {
		if diff := cmp.Diff(want, read(t, dir, &n)); diff != "" {
			t.Errorf("the last %d lines: %s", n, diff)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "plugin-logs", "x.log"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Where there is no state directory, none is made.
func TestNoStateDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	say(t, begin(dir, 1), "text\n")
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was made")
	}
}

// Hosts that write at the same time lose nothing but the oldest part, and the size is bounded.
func TestConcurrentWritersAndRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers, lines = 4, 400
	var all sync.WaitGroup
	for pid := 1; pid <= writers; pid++ {
		all.Go(func() {
			w := begin(dir, pid)
			for i := range lines {
				say(t, w, fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 2000)))
			}
			w.End("ended by swarm")
		})
	}
	all.Wait()
	next := map[string]string{}
	entries := read(t, dir, nil)
	for _, e := range entries {
		var pid, n string
		if _, err := fmt.Sscan(e, &pid, &n); err != nil {
			t.Fatal(err)
		}
		if want := next[pid]; want != "" && n != want && n != "ended" {
			t.Fatalf("run %s: line %s, want %s", pid, n, want)
		}
		var i int
		_, _ = fmt.Sscan(n, &i)
		next[pid] = fmt.Sprint(i + 1)
	}
	if len(entries) < 200 {
		t.Errorf("%d entries are left", len(entries))
	}
	var size int64
	files, _ := filepath.Glob(filepath.Join(dir, "plugin-logs", "*"))
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	// A rotation that another host has begun may let some entries pass.
	if len(files) != 2 || size > 1<<20+64<<10 {
		t.Errorf("%d files of %d bytes", len(files), size)
	}
}

// Lines that are written while a reader follows are read, also after the file was moved.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := begin(dir, 1)
	say(t, w, "before\n")
	ctx, cancel := context.WithCancel(t.Context())
	entries := make(chan pluginlogs.Entry, 1000)
	done := make(chan error, 1)
	go func() {
		done <- pluginlogs.Read(ctx, dir, "x", pluginlogs.Options{Follow: true}, func(e pluginlogs.Entry) error {
			entries <- e
			return nil
		})
	}()
	if e := <-entries; e.Text != "before" {
		t.Errorf("%+v", e)
	}
	for i := range 600 {
		say(t, w, fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 1000)))
		if e := <-entries; !strings.HasPrefix(e.Text, fmt.Sprint(i, " ")) {
			t.Fatalf("line %d: %.20s", i, e.Text)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
