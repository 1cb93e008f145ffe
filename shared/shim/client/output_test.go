package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// logOf makes a run directory of an ended worker with these log files, the
// oldest first.
func logOf(t *testing.T, dropped int64, segments ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, content := range segments {
		name := rundir.LogFile
		if n := len(segments) - 1 - i; n > 0 {
			name += "." + strconv.Itoa(n)
		}
		write(t, filepath.Join(dir, name), content)
	}
	st := rundir.Status{Version: rundir.StatusVersion, ID: "x", State: rundir.StateEnded, DroppedBytes: dropped}
	write(t, filepath.Join(dir, rundir.StatusFile), string(rundir.EncodeStatus(st)))
	return dir
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// records makes a log file: each text is "<second> <stream> <tag> <text>".
func records(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		second, rest, _ := strings.Cut(text, " ")
		fmt.Fprintf(&b, "2026-01-02T03:04:%s.000000001Z %s\n", second, rest)
	}
	return b.String()
}

func second(n int) time.Time { return time.Date(2026, 1, 2, 3, 4, n, 1, time.UTC) }

func TestOutput(t *testing.T) {
	t.Parallel()
	files := []string{
		records("01 stdout F a", "02 stderr F b"),
		records("03 stdout P c1", "04 stderr F d", "05 stdout F c2") + "garbage\n",
		records("06 stdout F ", "07 stdout F e  e", "08 stdout P f"),
	}
	tests := map[string]struct {
		opts swarm.OutputOptions
		want []string
	}{
		"all":            {swarm.OutputOptions{}, []string{"a", "b", "c1+", "d", "c2", "", "e  e", "f+"}},
		"stream":         {swarm.OutputOptions{Stream: swarm.Stderr}, []string{"b", "d"}},
		"since":          {swarm.OutputOptions{Since: second(5)}, []string{"c2", "", "e  e", "f+"}},
		"tail 0":         {swarm.OutputOptions{Tail: new(0)}, nil},
		"tail 1":         {swarm.OutputOptions{Tail: new(1)}, []string{"f+"}},
		"tail 2":         {swarm.OutputOptions{Tail: new(2)}, []string{"e  e", "f+"}},
		"tail 4":         {swarm.OutputOptions{Tail: new(4)}, []string{"c2", "", "e  e", "f+"}},
		"tail of stderr": {swarm.OutputOptions{Tail: new(1), Stream: swarm.Stderr}, []string{"d"}},
		"tail of stdout": {swarm.OutputOptions{Tail: new(4), Stream: swarm.Stdout}, []string{"c1+", "c2", "", "e  e", "f+"}},
		"tail too long":  {swarm.OutputOptions{Tail: new(99)}, []string{"a", "b", "c1+", "d", "c2", "", "e  e", "f+"}},
		"tail and since": {swarm.OutputOptions{Tail: new(4), Since: second(7)}, []string{"e  e", "f+"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := logOf(t, 0, files...)
			for _, follow := range []bool{false, true} {
				test.opts.Follow = follow
				if diff := cmp.Diff(test.want, read(t, dir, test.opts)); diff != "" {
					t.Errorf("follow %v: %s", follow, diff)
				}
			}
		})
	}
}

// read returns the texts of a log, those of pieces that continue with a plus.
func read(t *testing.T, dir string, o swarm.OutputOptions) []string {
	t.Helper()
	var texts []string
	err := client.Output(t.Context(), dir, o, func(out swarm.Output) error {
		text := string(out.Data)
		if out.Partial {
			text += "+"
		}
		texts = append(texts, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestOutputTime(t *testing.T) {
	t.Parallel()
	dir := logOf(t, 0, records("07 stderr F x"))
	err := client.Output(t.Context(), dir, swarm.OutputOptions{}, func(out swarm.Output) error {
		if !out.Time.Equal(second(7)) || out.Stream != swarm.Stderr {
			t.Errorf("output %+v", out)
		}
		return errEnough
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("the error of the reader: %v", err)
	}
}

func TestOutputDropped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts swarm.OutputOptions
		want []int64
	}{
		"all":          {swarm.OutputOptions{}, []int64{1234, 0, 0}},
		"tail":         {swarm.OutputOptions{Tail: new(2)}, []int64{0, 0}},
		"tail of more": {swarm.OutputOptions{Tail: new(9)}, []int64{1234, 0, 0}},
		"since":        {swarm.OutputOptions{Since: second(2)}, []int64{0, 0}},
		"since before": {swarm.OutputOptions{Since: second(0)}, []int64{1234, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := logOf(t, 1234, records("01 stdout F a", "02 stdout F b"), records("03 stdout F c"))
			var got []int64
			err := client.Output(t.Context(), dir, test.opts, func(out swarm.Output) error {
				got = append(got, out.Dropped)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTailOfLongLines has lines that are longer than what is read at once.
func TestTailOfLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	dir := logOf(t, 0, records("01 stdout F a", "02 stdout F "+long, "03 stdout F "+long, "04 stdout F b"))
	for n, want := range [][]string{nil, {"b"}, {long, "b"}, {long, long, "b"}, {"a", long, long, "b"}} {
		if diff := cmp.Diff(want, read(t, dir, swarm.OutputOptions{Tail: &n})); diff != "" {
			t.Errorf("tail %d: wrong", n)
		}
	}
}

// TestOutputCutShort has a shim that was killed while it wrote.
func TestOutputCutShort(t *testing.T) {
	t.Parallel()
	dir := logOf(t, 0, records("01 stdout F a")+"2026-01-02T03:04:02Z stdout F cu")
	if diff := cmp.Diff([]string{"a", "cu+"}, read(t, dir, swarm.OutputOptions{})); diff != "" {
		t.Error(diff)
	}
}

// keptDir is a run directory whose shim is a process that carries the mark of one.
func keptDir(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "999")
	cmd.Env = []string{swarm.EnvShim + "=x"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	shimProc, err := proc.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	st := rundir.Status{Version: rundir.StatusVersion, ID: "x", State: rundir.StateRunning, Shim: shimProc, Main: shimProc}
	write(t, filepath.Join(dir, rundir.StatusFile), string(rundir.EncodeStatus(st)))
	return dir
}

// finish writes the end of a worker, as a shim does.
func finish(t *testing.T, dir string) {
	t.Helper()
	st := rundir.Status{Version: rundir.StatusVersion, ID: "x", State: rundir.StateEnded}
	write(t, filepath.Join(dir, "new"), string(rundir.EncodeStatus(st)))
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, rundir.StatusFile)); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, dir, content string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, rundir.LogFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
}

func rotate(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, rundir.LogFile)
	for i := rundir.Segments - 1; i > 0; i-- {
		from := name
		if i > 1 {
			from += "." + strconv.Itoa(i-1)
		}
		if err := os.Rename(from, name+"."+strconv.Itoa(i)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// TestFollow lets a reader see the log grow step by step, from nothing to the
// end, through a rotation, and with a record in two writes.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := keptDir(t)
	got := make(chan string)
	done := make(chan error, 1)
	go func() {
		done <- client.Output(t.Context(), dir, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
			got <- string(o.Data)
			return nil
		})
	}()
	want := func(text string) {
		t.Helper()
		select {
		case g := <-got:
			if g != text {
				t.Fatalf("got %q, want %q", g, text)
			}
		case err := <-done:
			t.Fatalf("ended before %q: %v", text, err)
		case <-time.After(20 * time.Second):
			t.Fatalf("no %q", text)
		}
	}
	appendTo(t, dir, records("01 stdout F a"))
	want("a")
	appendTo(t, dir, records("02 stdout F b")+"2026-01-02T03:04:03Z std")
	want("b")
	appendTo(t, dir, "out F c\n")
	want("c")
	appendTo(t, dir, records("04 stdout F d"))
	rotate(t, dir)
	want("d")
	appendTo(t, dir, records("05 stdout F e"))
	rotate(t, dir)
	appendTo(t, dir, records("06 stdout F f"))
	rotate(t, dir)
	appendTo(t, dir, records("07 stdout F g"))
	want("e")
	want("f")
	want("g")
	appendTo(t, dir, records("08 stdout F h"))
	finish(t, dir)
	want("h")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFollowCancelled(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", "echo a; exec sleep 999")
	ctx, cancel := context.WithCancel(t.Context())
	err := client.Output(ctx, w.dir, swarm.OutputOptions{Follow: true}, func(swarm.Output) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestFollowRotations has a real shim rotate as fast as it can under a reader,
// which must not miss or repeat a line of what it read without a gap.
func TestFollowRotations(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	const lines = 20_000
	l := w.launch("sh", "-c", `i=0; while [ $i -lt `+strconv.Itoa(lines)+` ]; do i=$((i+1)); echo $i; done`)
	l.OutputLimit = 64 << 10
	if err := w.start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	last, gaps, begun := 0, 0, ""
	err := client.Output(t.Context(), w.dir, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		if begun += string(o.Data); o.Partial {
			return nil
		}
		n, err := strconv.Atoi(begun)
		begun = ""
		switch {
		case err != nil:
			return err
		case n <= last:
			return fmt.Errorf("%d after %d", n, last)
		case n > last+1:
			gaps++
		}
		last = n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != lines {
		t.Errorf("the last line is %d", last)
	}
	t.Logf("%d gaps", gaps)
}
