package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// flood is how much output is written.
const flood = 200 << 20

// lines makes a file of that many bytes in lines of 120 bytes.
func (w *world) lines(size int) (string, error) {
	path := w.path("lines")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	line := append(bytes.Repeat([]byte("x"), 119), '\n')
	block := bytes.Repeat(line, 1<<20/len(line))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	for n := 0; n < size && err == nil; n += len(block) {
		_, err = f.Write(block)
	}
	return path, errors.Join(err, f.Close())
}

// throughput compares a worker's output with a pipe to cat.
func throughput(ctx context.Context, w *world, _ options) ([]row, error) {
	lines, err := w.lines(flood)
	if err != nil {
		return nil, err
	}
	out := w.path("work/out")
	m, err := race(ctx, 5,
		contender{name: "pipe", run: func(ctx context.Context) (time.Duration, error) {
			return w.do(ctx, "sh", "-c", "cat "+lines+" | cat > "+out)
		}},
		contender{
			name: "shim",
			before: func(ctx context.Context) error {
				_, err := w.swarm(ctx, "clean", "--all")
				return err
			},
			// With the start of the worker, which is little next to it.
			run: func(ctx context.Context) (time.Duration, error) {
				began := time.Now()
				if _, err := w.swarm(ctx, "spawn", "--name", "loud", "--", "cat", lines); err != nil {
					return 0, err
				}
				_, err := w.swarm(ctx, "wait", "loud")
				return time.Since(began), err
			},
		},
	)
	if err != nil {
		return nil, err
	}
	rate := func(d time.Duration) float64 { return flood / d.Seconds() / (1 << 20) }
	return []row{{
		what:     "output through the shim, lines of 120 bytes",
		measured: fmt.Sprintf("%.0f MiB/s", rate(m["shim"])), against: fmt.Sprintf("cmd | cat > file %.0f MiB/s", rate(m["pipe"])),
		value: rate(m["shim"]) / rate(m["pipe"]), unit: "×", min: 0.333,
	}}, os.Remove(out)
}

// shim is the memory of a shim after much output.
func shim(ctx context.Context, w *world, _ options) ([]row, error) {
	lines, err := w.lines(flood)
	if err != nil {
		return nil, err
	}
	// The marker is written by the worker once all of its output was taken.
	mark := w.path("work/mark")
	const command = `cat "$1"; : > "$2"; exec sleep 1000`
	if _, err := w.swarm(ctx, "spawn", "--name", "loud", "--", "sh", "-c", command, "sh", lines, mark); err != nil {
		return nil, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	// A shim gives back what it used for them once a second.
	select {
	case <-time.After(2 * time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	kib, err := w.most("VmRSS:")
	if err != nil {
		return nil, err
	}
	return []row{{
		what: "shim, resident, after 200 MiB of output", measured: fmt.Sprintf("%d KiB", kib),
		value: float64(kib) / 1024, unit: "MiB", max: 3,
	}}, w.clear(ctx)
}

// shims is what each of many shims costs: its threads, and its memory after ten minutes of steady
// output of the last one.
func shims(ctx context.Context, w *world, o options) ([]row, error) {
	const workers = 100
	const steady = `line=$(printf %0119d); while :; do yes "$line" | head -c 500000; sleep 0.1; done`
	if err := w.spawnMany(ctx, "quiet", 1, workers/2, nil, []string{"sleep", "10000"}); err != nil {
		return nil, err
	}
	if err := w.spawnMany(ctx, "loud", 1, workers/2, []string{"--log-limit", "1MiB"}, []string{"sh", "-c", "while sleep 0.2; do echo out; echo err >&2; done"}); err != nil {
		return nil, err
	}
	// They have each shim do something.
	for range o.runs {
		if _, err := w.swarm(ctx, "stats"); err != nil {
			return nil, err
		}
	}
	threads, err := w.most("Threads:")
	if err != nil {
		return nil, err
	}
	if err := w.clear(ctx); err != nil {
		return nil, err
	}
	if _, err := w.swarm(ctx, "spawn", "--name", "steady", "--log-limit", "1MiB", "--", "sh", "-c", steady); err != nil {
		return nil, err
	}
	select {
	case <-time.After(o.steady):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	kib, err := w.most("VmRSS:")
	if err != nil {
		return nil, err
	}
	return []row{
		{
			what: fmt.Sprintf("shim, most threads of %d", workers), measured: strconv.Itoa(threads),
			value: float64(threads), unit: "threads", max: 4,
		},
		{
			what: fmt.Sprintf("shim, resident, after %v of 5 MB/s, log of 1 MiB", o.steady), measured: fmt.Sprintf("%d KiB", kib),
			value: float64(kib) / 1024, unit: "MiB", max: 3,
		},
	}, w.clear(ctx)
}

// most returns the largest value of a line of /proc/PID/status among the shims.
func (w *world) most(field string) (int, error) {
	exes, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return 0, err
	}
	program := filepath.Join(w.bin, "swarm-shim")
	largest := 0
	for _, exe := range exes {
		if target, err := os.Readlink(exe); err != nil || target != program {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(exe), "status"))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, field); ok {
				n, err := strconv.Atoi(strings.Fields(rest)[0])
				if err != nil {
					return 0, err
				}
				largest = max(largest, n)
			}
		}
	}
	if largest == 0 {
		return 0, fmt.Errorf("%s: %w", program, io.EOF)
	}
	return largest, nil
}
