package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// idleTop is what a dashboard costs with many workers that do nothing: its processors' time
// and that of its plugins, against the clock.
func idleTop(ctx context.Context, w *world, o options) ([]row, error) {
	const settle, during = 10 * time.Second, 30 * time.Second
	if err := w.spawnMany(ctx, "w", 1, o.crowd, nil, []string{"sleep", "10000"}); err != nil {
		return nil, err
	}
	if _, err := w.do(ctx, "tmux", "-L", "top", "new-session", "-d", "-s", "top", "-x", "120", "-y", "40", filepath.Join(w.bin, "swarm"), "top"); err != nil {
		return nil, err
	}
	defer func() { _, _ = w.do(context.WithoutCancel(ctx), "tmux", "-L", "top", "kill-server") }()
	if err := w.awaitTop(ctx, fmt.Sprintf("%d running", o.crowd)); err != nil {
		return nil, err
	}
	time.Sleep(settle)
	out, err := w.command(ctx, "tmux", "-L", "top", "display-message", "-p", "-t", "top:", "#{pane_pid}").Output()
	if err != nil {
		return nil, err
	}
	pid := strings.TrimSpace(string(out))
	began, before := time.Now(), treeTime(pid)
	time.Sleep(during)
	used := treeTime(pid) - before
	share := 100 * float64(used) / float64(time.Since(began))
	return []row{{
		what: fmt.Sprintf("swarm top idle, %d workers: processor", o.crowd), measured: millis(used),
		against: during.String(), value: share, unit: "%", max: 1,
	}}, w.clear(ctx)
}

// awaitTop waits until the dashboard shows a text.
func (w *world) awaitTop(ctx context.Context, text string) error {
	for range 300 {
		out, err := w.command(ctx, "tmux", "-L", "top", "capture-pane", "-p", "-t", "top:").Output()
		if err == nil && bytes.Contains(out, []byte(text)) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the dashboard never showed " + text)
}

// treeTime is the time of processors that a process and its descendants took. The kernel
// counts in hundredths of a second.
func treeTime(pid string) time.Duration {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	sum := time.Duration(user+system) * 10 * time.Millisecond
	lists, _ := filepath.Glob(filepath.Join("/proc", pid, "task", "*", "children"))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(children)) {
			sum += treeTime(child)
		}
	}
	return sum
}
