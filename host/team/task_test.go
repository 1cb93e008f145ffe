package team

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

func TestTaskID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{
		"task-1": 1, "task-120": 120, "task-0": 0, "task--1": 0, "task-01": 0, "task-+1": 0, "task- 1": 0, "1": 0, "": 0, "task-": 0,
		"Task-1": 0, "task-1 ": 0, "task-99999999999999999999": 0, "task-task-1": 0,
	} {
		if got := taskNumber(id); got != want {
			t.Errorf("the number of %q is %d, want %d", id, got, want)
		}
	}
	if diff := cmp.Diff([]string{"task-3", "task-12"}, TaskIDs([]int{3, 12})); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if TaskIDs(nil) == nil {
		t.Error("no ids are nil")
	}
}

func TestCreateTask(t *testing.T) {
	t.Parallel()
	dir := crew(t, "a")
	addTasks(t, dir, nil, nil)
	for _, test := range []struct {
		name   string
		caller Caller
		team   string
		task   NewTask
		want   registry.Task
		err    string
	}{
		{
			name: "bare", caller: as("a"), task: NewTask{Title: "x"},
			want: registry.Task{Title: "x", Priority: registry.PriorityNormal},
		},
		{
			name: "full", caller: person,
			task: NewTask{Title: "x", Description: "y\nz", Priority: registry.PriorityHigh, Dependencies: []string{"task-2", "task-1", "task-2"}},
			want: registry.Task{Title: "x", Description: "y\nz", Priority: registry.PriorityHigh, Needs: []int{1, 2}},
		},
		{
			name: "bytes that are no text", caller: person, task: NewTask{Title: "a\xffb\x00"},
			want: registry.Task{Title: "a\uFFFDb\uFFFD", Priority: registry.PriorityNormal},
		},
		{name: "a dependency that is not there", caller: person, task: NewTask{Title: "x", Dependencies: []string{"task-1", "task-9"}}, err: "Dependency task task-9 does not exist"},
		{name: "a dependency that is no id", caller: person, task: NewTask{Title: "x", Dependencies: []string{"../1"}}, err: "Dependency task ../1 does not exist"},
		{name: "itself", caller: person, task: NewTask{Title: "x", Dependencies: []string{"task-3"}}, err: "Circular dependency detected: task-3"},
		{name: "no title", caller: person, task: NewTask{Title: " \n"}, err: "Title is empty"},
		{name: "a long title", caller: person, task: NewTask{Title: strings.Repeat("x", maxTitle+1)}, err: "Title has 1025 bytes, more than 1024"},
		{name: "a long description", caller: person, task: NewTask{Title: "x", Description: strings.Repeat("x", maxText+1)}, err: "Description has 262145 bytes, more than 262144"},
		{name: "another priority", caller: person, task: NewTask{Title: "x", Priority: "urgent"}, err: "Priority 'urgent' is not one of high, normal, low"},
		{name: "no team", caller: person, team: "blue", task: NewTask{Title: "x"}, err: "Team 'blue' does not exist"},
		{name: "not a member", caller: Caller{WorkerID: "w"}, task: NewTask{Title: "x"}, err: "Not a member of team 'red'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			undone := errors.New("the next case begins as this one did")
			reg, err := registry.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			err = reg.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
				team := test.team
				if team == "" {
					team = crewTeam
				}
				got, err := CreateTask(ctx, tx, test.caller, team, test.task, now)
				refused(t, test.err, err)
				if err != nil {
					return undone
				}
				test.want.Team, test.want.N, test.want.Status, test.want.Created, test.want.Updated = crewTeam, 3, registry.TaskPending, now, now
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("task (-want +got):\n%s", diff)
				}
				kept, err := tx.Task(ctx, crewTeam, 3)
				if diff := cmp.Diff(test.want, kept); err != nil || diff != "" {
					t.Errorf("task in the registry: %v (-want +got):\n%s", err, diff)
				}
				return undone
			})
			if err := errors.Join(err, reg.Close()); !errors.Is(err, undone) {
				t.Error(err)
			}
		})
	}
}

// TestTaskMoves tries every change of status, of a task that is owned by a or by
// no one, by everyone.
func TestTaskMoves(t *testing.T) {
	t.Parallel()
	const pending, progress, completed = registry.TaskPending, registry.TaskInProgress, registry.TaskCompleted
	for _, test := range []struct {
		from, to registry.TaskStatus
		who      string
		err      string
	}{
		{pending, pending, "b", ""},
		{pending, progress, "b", ""},
		{pending, completed, "b", "Invalid status transition: pending -> completed"},
		{pending, completed, "person", "Invalid status transition: pending -> completed"},
		{progress, pending, "a", "Invalid status transition: in_progress -> pending"},
		{progress, pending, "person", "Invalid status transition: in_progress -> pending"},
		{progress, progress, "a", ""},
		{progress, progress, "b", "Task task-1 is owned by agent-a"},
		{progress, progress, "person", ""},
		{progress, completed, "a", ""},
		{progress, completed, "b", "Task task-1 is owned by agent-a"},
		{progress, completed, "boss", ""},
		{progress, completed, "person", ""},
		{completed, pending, "a", "Invalid status transition: completed -> pending"},
		{completed, progress, "a", "Invalid status transition: completed -> in_progress"},
		{completed, completed, "b", ""},
		{pending, "done", "a", "Invalid status transition: pending -> done"},
		{pending, "", "b", ""},
	} {
		t.Run(string(test.from)+" to "+string(test.to)+" by "+test.who, func(t *testing.T) {
			t.Parallel()
			dir := crew(t, "a", "b", "boss")
			addTasks(t, dir, nil)
			with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
				for _, status := range []registry.TaskStatus{progress, completed} {
					if test.from == status || test.from == completed {
						if _, err := UpdateTask(ctx, tx, as("a"), crewTeam, "task-1", TaskChange{Status: status}, now); err != nil {
							return err
						}
					}
				}
				caller := as(test.who)
				if test.who == "person" {
					caller = person
				}
				before, err := tx.Task(ctx, crewTeam, 1)
				if err != nil {
					return err
				}
				got, err := UpdateTask(ctx, tx, caller, crewTeam, "task-1", TaskChange{Status: test.to}, later)
				refused(t, test.err, err)
				want := before
				if err == nil {
					want.Updated = later
					switch {
					case test.from == test.to || test.to == "":
					case test.to == progress:
						want.Status, want.Owner, want.Claimed = progress, caller.Agent, later
					case test.to == completed:
						want.Status, want.Completed = completed, later
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("task (-want +got):\n%s", diff)
					}
				}
				kept, err := tx.Task(ctx, crewTeam, 1)
				if diff := cmp.Diff(want, kept); diff != "" {
					t.Errorf("task in the registry (-want +got):\n%s", diff)
				}
				return err
			})
		})
	}
}

func TestClaimTask(t *testing.T) {
	t.Parallel()
	dir := crew(t, "a", "b")
	addTasks(t, dir, nil, nil, []string{"task-1", "task-2"}, []string{"task-3"})
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		for _, step := range []struct {
			name, id, err string
			complete      bool
		}{
			{name: "a", id: "task-9", err: "Task task-9 not found in team red"},
			{name: "a", id: "1", err: "Task 1 not found in team red"},
			{name: "a", id: "task-3", err: "Task task-3 is not available (waits for: task-1, task-2)"},
			{name: "a", id: "task-1"},
			{name: "b", id: "task-1", err: "Task task-1 is not available (status: in_progress)"},
			{name: "a", id: "task-1", err: "Task task-1 is not available (status: in_progress)"},
			{name: "b", id: "task-2"},
			{name: "b", id: "task-2", complete: true},
			{name: "b", id: "task-2", err: "Task task-2 is not available (status: completed)"},
			{name: "a", id: "task-3", err: "Task task-3 is not available (waits for: task-1)"},
			{name: "a", id: "task-1", complete: true},
			{name: "b", id: "task-3"},
			{name: "a", id: "task-4", err: "Task task-4 is not available (waits for: task-3)"},
		} {
			var err error
			if step.complete {
				_, err = UpdateTask(ctx, tx, as(step.name), crewTeam, step.id, TaskChange{Status: registry.TaskCompleted}, later)
			} else {
				_, err = ClaimTask(ctx, tx, as(step.name), crewTeam, step.id, later)
			}
			refused(t, step.err, err)
		}
		return nil
	})
}

func TestClaimsOfThoseWhoMayNot(t *testing.T) {
	t.Parallel()
	dir := crew(t, "a")
	addTasks(t, dir, nil)
	other := as("a")
	other.Team = "blue"
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		for _, caller := range []Caller{{}, {WorkerID: "w"}, other} {
			_, err := ClaimTask(ctx, tx, caller, crewTeam, "task-1", now)
			refused(t, "Not a member of team 'red'", err)
			_, err = UpdateTask(ctx, tx, caller, crewTeam, "task-1", TaskChange{Status: registry.TaskInProgress}, now)
			refused(t, "Not a member of team 'red'", err)
			_, err = Tasks(ctx, tx, caller, crewTeam, "", "")
			refused(t, "Not a member of team 'red'", err)
		}
		return nil
	})
}

func TestDependenciesOfATaskThatIsThere(t *testing.T) {
	t.Parallel()
	// 3 needs 2, 2 needs 1; 4 is alone, 5 was claimed.
	for _, test := range []struct {
		name  string
		id    string
		needs []string
		want  []int
		err   string
	}{
		{"more", "task-4", []string{"task-3", "task-1"}, []int{1, 3}, ""},
		{"none", "task-3", []string{}, nil, ""},
		{"as they are", "task-3", nil, []int{2}, ""},
		{"itself", "task-1", []string{"task-1"}, nil, "Circular dependency detected: task-1"},
		{"its own", "task-1", []string{"task-2"}, nil, "Circular dependency detected: task-1"},
		{"its own, far away", "task-1", []string{"task-4", "task-3"}, nil, "Circular dependency detected: task-1"},
		{"not there", "task-1", []string{"task-7"}, nil, "Dependency task task-7 does not exist"},
		{"too late", "task-5", []string{"task-1"}, nil, "Task task-5 is not available (status: in_progress)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := crew(t, "a")
			addTasks(t, dir, nil, []string{"task-1"}, []string{"task-2"}, nil, nil)
			with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
				if _, err := ClaimTask(ctx, tx, as("a"), crewTeam, "task-5", now); err != nil {
					return err
				}
				got, err := UpdateTask(ctx, tx, as("a"), crewTeam, test.id, TaskChange{Dependencies: test.needs}, later)
				refused(t, test.err, err)
				if diff := cmp.Diff(test.want, got.Needs); err == nil && diff != "" {
					t.Errorf("dependencies (-want +got):\n%s", diff)
				}
				return nil
			})
		})
	}
}

// TestNoCircleEver changes dependencies at random: a change is refused exactly if
// it would close a circle, which is looked for in another way here.
func TestNoCircleEver(t *testing.T) {
	t.Parallel()
	const n = 8
	random := rand.New(rand.NewPCG(1, 2))
	dir := crew(t)
	addTasks(t, dir, make([][]string, n)...)
	needs := map[int][]int{}
	var reaches func(from, to int) bool
	reaches = func(from, to int) bool {
		return from == to || slices.ContainsFunc(needs[from], func(next int) bool { return reaches(next, to) })
	}
	refusals := 0
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		for range 500 {
			task, wanted := random.IntN(n)+1, []int{}
			for range random.IntN(4) {
				wanted = append(wanted, random.IntN(n)+1)
			}
			circle := slices.ContainsFunc(wanted, func(need int) bool { return reaches(need, task) })
			_, err := UpdateTask(ctx, tx, person, crewTeam, TaskID(task), TaskChange{Dependencies: TaskIDs(wanted)}, now)
			if errors.Is(err, ErrCycle) != circle || err != nil && !circle {
				t.Fatalf("%d needs %v, of %v: %v", task, wanted, needs, err)
			}
			if circle {
				refusals++
			} else {
				needs[task] = wanted
			}
		}
		return nil
	})
	if refusals < 50 || refusals > 450 {
		t.Errorf("%d of 500 changes were refused; the test means little", refusals)
	}
}

func TestDependenciesAndClaimInOneChange(t *testing.T) {
	t.Parallel()
	dir := crew(t, "a")
	addTasks(t, dir, nil, nil)
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		_, err := UpdateTask(ctx, tx, as("a"), crewTeam, "task-2", TaskChange{Status: registry.TaskInProgress, Dependencies: []string{"task-1"}}, later)
		refused(t, "Task task-2 is not available (waits for: task-1)", err)
		return nil
	})
}

func TestTasksOfOneOwner(t *testing.T) {
	t.Parallel()
	dir := crew(t, "a", "b", "gone")
	addTasks(t, dir, nil, nil, nil, nil, nil)
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		for id, caller := range map[string]Caller{"task-1": as("a"), "task-2": as("b"), "task-3": person, "task-4": as("gone")} {
			if _, err := ClaimTask(ctx, tx, caller, crewTeam, id, now); err != nil {
				return err
			}
		}
		if _, err := UpdateTask(ctx, tx, as("gone"), crewTeam, "task-4", TaskChange{Status: registry.TaskCompleted}, now); err != nil {
			return err
		}
		gone, err := tx.Agent(ctx, "agent-gone")
		if err != nil {
			return err
		}
		gone.Status = registry.AgentTerminated
		if err := tx.PutAgent(ctx, &gone); err != nil {
			return err
		}
		for _, test := range []struct {
			status registry.TaskStatus
			owner  string
			want   []string
			err    string
		}{
			{want: []string{"task-1", "task-2", "task-3", "task-4", "task-5"}},
			{status: registry.TaskPending, want: []string{"task-5"}},
			{owner: "agent-a", want: []string{"task-1"}},
			{owner: "b", want: []string{"task-2"}},
			{owner: "leader", want: []string{"task-3"}},
			{owner: "agent-gone", want: []string{"task-4"}},
			{owner: "gone", want: []string{"task-4"}},
			{owner: "ghost", err: "Agent 'ghost' not found in team 'red'"},
			{owner: "agent-a", status: registry.TaskCompleted, want: []string{}},
		} {
			tasks, err := Tasks(ctx, tx, as("a"), crewTeam, test.status, test.owner)
			refused(t, test.err, err)
			got := []string{}
			for _, task := range tasks {
				got = append(got, TaskID(task.N))
			}
			if !slices.Equal(test.want, got) && test.err == "" {
				t.Errorf("tasks of %q with %q: %v, want %v", test.owner, test.status, got, test.want)
			}
		}
		return nil
	})
}

func TestGiveBack(t *testing.T) {
	t.Parallel()
	dir := crew(t, "a", "b")
	addTasks(t, dir, nil, nil, nil, nil, []string{"task-1"})
	with(t, dir, func(ctx context.Context, tx *registry.Tx) error {
		for id, name := range map[string]string{"task-1": "a", "task-2": "a", "task-3": "b", "task-4": "a"} {
			if _, err := ClaimTask(ctx, tx, as(name), crewTeam, id, now); err != nil {
				return err
			}
		}
		if _, err := UpdateTask(ctx, tx, as("a"), crewTeam, "task-4", TaskChange{Status: registry.TaskCompleted}, now); err != nil {
			return err
		}
		want, err := tx.Tasks(ctx, registry.TaskQuery{Team: crewTeam})
		if err != nil {
			return err
		}
		for _, i := range []int{0, 1} {
			want[i].Status, want[i].Owner, want[i].Claimed, want[i].Updated = registry.TaskPending, "", time.Time{}, later
			want[i].Warning = "Reassigned: previous owner agent-a terminated"
		}
		given, err := giveBack(ctx, tx, crewTeam, "agent-a", later)
		if diff := cmp.Diff([]string{"task-1", "task-2"}, given); err != nil || diff != "" {
			t.Errorf("given back: %v (-want +got):\n%s", err, diff)
		}
		got, err := tx.Tasks(ctx, registry.TaskQuery{Team: crewTeam})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("tasks: %v (-want +got):\n%s", err, diff)
		}
		given, err = giveBack(ctx, tx, crewTeam, "agent-a", later)
		if diff := cmp.Diff([]string{}, given); err != nil || diff != "" {
			t.Errorf("given back once more: %v (-want +got):\n%s", err, diff)
		}
		_, err = ClaimTask(ctx, tx, as("b"), crewTeam, "task-1", later)
		return err
	})
}
