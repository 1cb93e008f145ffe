package team

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

// The tests of many at once run each member twice over: as a goroutine with a
// connection of its own, and as a process. A process is this test binary with
// memberEnv, which holds what it does, as whom, and in which state directory.
const memberEnv = "SWARM_TEST_MEMBER"

// acts are what a member can do. It reads lines and writes lines.
var acts = map[string]func(ctx context.Context, dir, name string, in io.Reader, out io.Writer) error{
	"claim": claimAll,
	"send":  sendMany,
	"read":  readAll,
}

func TestMain(m *testing.M) {
	if act, rest, ok := strings.Cut(os.Getenv(memberEnv), " "); ok {
		name, dir, _ := strings.Cut(rest, " ")
		if err := acts[act](context.Background(), dir, name, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// claimAll claims tasks and completes them as long as there are pending ones, and
// writes the ids of those that it got. It begins at one of four places in the list,
// so that there are always some that want the same task.
func claimAll(ctx context.Context, dir, name string, _ io.Reader, out io.Writer) (err error) {
	reg, err := registry.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reg.Close()) }()
	for {
		var pending []registry.Task
		err := reg.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
			pending, err = Tasks(ctx, tx, as(name), crewTeam, registry.TaskPending, "")
			return err
		})
		if err != nil || len(pending) == 0 {
			return err
		}
		id := TaskID(pending[int(name[len(name)-1])%4*len(pending)/4].N)
		err = reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			_, err := ClaimTask(ctx, tx, as(name), crewTeam, id, now)
			return err
		})
		if errors.Is(err, ErrUnavailable) {
			continue
		}
		if err != nil {
			return err
		}
		err = reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			_, err := UpdateTask(ctx, tx, as(name), crewTeam, id, TaskChange{Status: registry.TaskCompleted}, now)
			return err
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, id); err != nil {
			return err
		}
	}
}

const perWriter = 100

// sendMany sends numbered messages to the leader, and writes each number.
func sendMany(ctx context.Context, dir, name string, _ io.Reader, out io.Writer) (err error) {
	reg, err := registry.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reg.Close()) }()
	for i := range perWriter {
		body := fmt.Sprintf("%s %d", name, i)
		err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			_, err := Send(ctx, tx, as(name), crewTeam, Leader, body, now)
			return err
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, body); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads the leader's inbox once for each line that it reads, and once more
// at the end, and writes the messages.
func readAll(ctx context.Context, dir, _ string, in io.Reader, out io.Writer) (err error) {
	reg, err := registry.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reg.Close()) }()
	lines := bufio.NewScanner(in)
	for more := true; more; {
		more = lines.Scan()
		var inbox Inbox
		err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
			inbox, err = Read(ctx, tx, person, crewTeam, true, later)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range inbox.Messages {
			if _, err := fmt.Fprintln(out, m.Body); err != nil {
				return err
			}
		}
		more = more || inbox.Remaining > 0
	}
	return lines.Err()
}

// start runs a member, which closes what it reads from at its end, and returns a
// function that waits for that.
type start func(t *testing.T, act, name, dir string, in *os.File, out io.Writer) (wait func())

// inGoroutine starts a member with a connection of its own.
func inGoroutine(t *testing.T, act, name, dir string, in *os.File, out io.Writer) func() {
	done := make(chan error, 1)
	go func() {
		err := acts[act](t.Context(), dir, name, in, out)
		done <- errors.Join(err, in.Close())
	}()
	return func() {
		if err := <-done; err != nil {
			t.Errorf("%s %s: %v", act, name, err)
		}
	}
}

// inProcess starts a member in a process of its own.
func inProcess(t *testing.T, act, name, dir string, in *os.File, out io.Writer) func() {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), memberEnv+"="+strings.Join([]string{act, name, dir}, " "))
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &said
	if err := errors.Join(cmd.Start(), in.Close()); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s %s: %v\n%s", act, name, err, said.String())
		}
	}
}

func eachStart(t *testing.T, test func(t *testing.T, start start)) {
	t.Helper()
	t.Run("connections", func(t *testing.T) {
		t.Parallel()
		test(t, inGoroutine)
	})
	t.Run("processes", func(t *testing.T) {
		t.Parallel()
		test(t, inProcess)
	})
}

// numbered are names with numbers.
func numbered(name string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = name + strconv.Itoa(i)
	}
	return names
}

// TestTwentyAgentsClaimAHundredTasks: each task is one agent's, and the registry
// agrees on whose.
func TestTwentyAgentsClaimAHundredTasks(t *testing.T) {
	t.Parallel()
	eachStart(t, func(t *testing.T, start start) {
		names := numbered("a", 20)
		dir := crew(t, names...)
		// Some can't be claimed before others are done.
		needs := make([][]string, 100)
		for i := range needs {
			if i%10 == 9 {
				needs[i] = []string{TaskID(i), TaskID(i - 5)}
			}
		}
		addTasks(t, dir, needs...)
		got := make([]bytes.Buffer, len(names))
		var waits []func()
		for i, name := range names {
			waits = append(waits, start(t, "claim", name, dir, nothing(t), &got[i]))
		}
		for _, wait := range waits {
			wait()
		}
		owners := map[string]string{}
		for i, name := range names {
			for id := range strings.Lines(got[i].String()) {
				id = strings.TrimSpace(id)
				if owner, taken := owners[id]; taken {
					t.Errorf("%s was claimed by %s and by %s", id, owner, name)
				}
				owners[id] = as(name).Agent
			}
		}
		recorded := map[string]string{}
		with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
			tasks, err := tx.Tasks(ctx, registry.TaskQuery{Team: crewTeam, Status: registry.TaskCompleted})
			for _, task := range tasks {
				recorded[TaskID(task.N)] = task.Owner
			}
			return err
		})
		if len(recorded) != len(needs) {
			t.Errorf("%d tasks are completed, want %d", len(recorded), len(needs))
		}
		if diff := cmp.Diff(recorded, owners); diff != "" {
			t.Errorf("who has which task (-registry +agents):\n%s", diff)
		}
	})
}

// TestAThousandMessages: ten write to an inbox that three read at the same time.
// None is lost, none is read twice, and each reader sees what one writer wrote in
// its order.
func TestAThousandMessages(t *testing.T) {
	t.Parallel()
	eachStart(t, func(t *testing.T, start start) {
		writers, readers := numbered("w", 10), numbered("r", 3)
		dir := crew(t, writers...)
		bell := &bell{}
		got := make([]bytes.Buffer, len(readers))
		var reading []func()
		for i, name := range readers {
			reading = append(reading, start(t, "read", name, dir, bell.listen(t), &got[i]))
		}
		var writing []func()
		for _, name := range writers {
			writing = append(writing, start(t, "send", name, dir, nothing(t), bell))
		}
		for _, wait := range writing {
			wait()
		}
		bell.close()
		for _, wait := range reading {
			wait()
		}
		times := map[string]int{}
		for i := range readers {
			last := map[string]int{}
			for line := range strings.Lines(got[i].String()) {
				var writer string
				var n int
				if _, err := fmt.Sscan(line, &writer, &n); err != nil {
					t.Fatalf("message %q: %v", line, err)
				}
				if before, ok := last[writer]; ok && n <= before {
					t.Errorf("reader %d got %s's message %d after %d", i, writer, n, before)
				}
				last[writer] = n
				times[strings.TrimSpace(line)]++
			}
		}
		want := map[string]int{}
		for _, writer := range writers {
			for n := range perWriter {
				want[fmt.Sprintf("%s %d", writer, n)] = 1
			}
		}
		if diff := cmp.Diff(want, times); diff != "" {
			t.Errorf("how often each message was read (-want +got):\n%s", diff)
		}
	})
}

// nothing is what a member reads that needs not read.
func nothing(t *testing.T) *os.File {
	t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// bell rings for all who listen, once for every ten lines that are written to it.
type bell struct {
	mu    sync.Mutex
	lines int
	out   []*os.File
}

// listen returns what holds a line for each time that it rings. Its buffer is that
// of a pipe, so no one waits for one that does not listen.
func (b *bell) listen(t *testing.T) *os.File {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out = append(b.out, out)
	return in
}

func (b *bell) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.lines += bytes.Count(p, []byte("\n")); b.lines >= 10; b.lines -= 10 {
		for _, out := range b.out {
			_, _ = out.WriteString("\n") // who is gone says why
		}
	}
	return len(p), nil
}

func (b *bell) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, out := range b.out {
		_ = out.Close()
	}
}
