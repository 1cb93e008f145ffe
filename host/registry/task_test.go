package registry

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fullTask has something in every field that is written.
func fullTask() Task {
	return Task{
		Team: "red", Title: "build ü", Description: "all\nof it", Priority: PriorityHigh, Status: TaskCompleted, Owner: "agent-abc123",
		Created: time.Unix(1700000000, 1), Updated: time.Unix(1700000001, 2), Claimed: time.Unix(1700000002, 3), Completed: time.Unix(1700000003, 4),
		Warning: "why",
	}
}

func bareTask(team string) Task {
	return Task{Team: team, Title: "t", Priority: PriorityNormal, Status: TaskPending, Created: time.Unix(1700000000, 0)}
}

func change(t *testing.T, r *Registry, f func(context.Context, *Tx) error) {
	t.Helper()
	if err := r.Change(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func TestTaskIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	change(t, r, func(ctx context.Context, tx *Tx) error {
		tasks := []Task{fullTask(), bareTask("red"), bareTask("blue"), bareTask("red")}
		tasks[1].Needs = []int{1}
		tasks[3].Needs = []int{1, 2}
		for i, n := range []int{1, 2, 1, 3} {
			if err := tx.AddTask(ctx, &tasks[i]); err != nil {
				return err
			}
			if tasks[i].N != n {
				t.Errorf("the task %d got number %d, want %d", i, tasks[i].N, n)
			}
		}
		tasks[0].Blocks, tasks[1].Blocks = []int{2, 3}, []int{3}
		got, err := tx.Tasks(ctx, TaskQuery{Team: "red"})
		if diff := cmp.Diff([]Task{tasks[0], tasks[1], tasks[3]}, got); diff != "" {
			t.Errorf("tasks (-want +got):\n%s", diff)
		}
		return err
	})
}

func TestTaskIsReplaced(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	change(t, r, func(ctx context.Context, tx *Tx) error {
		for range 3 {
			task := bareTask("red")
			if err := tx.AddTask(ctx, &task); err != nil {
				return err
			}
		}
		want := fullTask()
		want.N, want.Needs = 3, []int{1, 2}
		if err := tx.PutTask(ctx, &want); err != nil {
			return err
		}
		want.Needs = []int{2}
		if err := tx.PutTask(ctx, &want); err != nil {
			return err
		}
		got, err := tx.Task(ctx, "red", 3)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("task (-want +got):\n%s", diff)
		}
		return err
	})
}

func TestTaskNotThere(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	change(t, r, func(ctx context.Context, tx *Tx) error {
		task := bareTask("red")
		if err := tx.AddTask(ctx, &task); err != nil {
			return err
		}
		for _, n := range []int{-1, 0, 2} {
			if _, err := tx.Task(ctx, "red", n); !errors.Is(err, ErrNotFound) {
				t.Errorf("task %d: %v, want %v", n, err, ErrNotFound)
			}
		}
		if _, err := tx.Task(ctx, "blue", 1); !errors.Is(err, ErrNotFound) {
			t.Errorf("the task of another team: %v, want %v", err, ErrNotFound)
		}
		return nil
	})
}

func TestTasksBehindAndWaitedFor(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	change(t, r, func(ctx context.Context, tx *Tx) error {
		// 4 needs 3 and 2, 3 needs 2, 2 needs 1, 5 is alone.
		for n, needs := range [][]int{nil, {1}, {2}, {2, 3}, nil} {
			for _, team := range []string{"red", "blue"} {
				task := bareTask(team)
				if team == "red" {
					task.Needs = needs
				}
				if n == 0 {
					task.Status = TaskCompleted
				}
				if err := tx.AddTask(ctx, &task); err != nil {
					return err
				}
			}
		}
		for n, want := range map[int]struct{ behind, waits []int }{
			1: {behind: []int{2, 3, 4}}, 2: {behind: []int{3, 4}}, 3: {[]int{4}, []int{2}}, 4: {nil, []int{2, 3}}, 5: {},
		} {
			behind, err := tx.Behind(ctx, "red", n)
			if err != nil {
				return err
			}
			waits, err := tx.WaitsFor(ctx, "red", n)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want.behind, behind); diff != "" {
				t.Errorf("behind %d (-want +got):\n%s", n, diff)
			}
			if diff := cmp.Diff(want.waits, waits); diff != "" {
				t.Errorf("%d waits for (-want +got):\n%s", n, diff)
			}
		}
		return nil
	})
}
