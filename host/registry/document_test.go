package registry

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestEveryField: each field is read as it was written, also one that is new.
func TestEveryField(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	rec, agent, shutdown, task := filledWith[Record](t), filledWith[Agent](t), filledWith[Shutdown](t), filledWith[Task](t)
	old := filledWith[Record](t)
	rec.State, rec.Replaces = Stopped, &old
	agent.Role, agent.Status = RoleWorker, AgentActive
	shutdown.Phase = ShutdownRequested
	task.Status, task.Needs, task.Blocks = TaskPending, nil, nil
	change(t, r, func(ctx context.Context, tx *Tx) error {
		return errors.Join(tx.Insert(ctx, &rec), tx.InsertAgent(ctx, &agent), tx.InsertShutdown(ctx, &shutdown), tx.AddTask(ctx, &task))
	})
	change(t, r, func(ctx context.Context, tx *Tx) error {
		gotRec, err := tx.Get(ctx, rec.ID)
		gotAgent, aerr := tx.Agent(ctx, agent.ID)
		gotShutdown, serr := tx.LastShutdown(ctx, shutdown.AgentID)
		gotTask, terr := tx.Task(ctx, task.Team, task.N)
		for _, c := range [][2]any{{rec, gotRec}, {agent, gotAgent}, {shutdown, gotShutdown}, {task, gotTask}} {
			if diff := cmp.Diff(c[0], c[1]); diff != "" {
				t.Errorf("%T (-want +got):\n%s", c[0], diff)
			}
		}
		return errors.Join(err, aerr, serr, terr)
	})
}

// TestPathsOfAnyBytes: a directory need not be UTF-8.
func TestPathsOfAnyBytes(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	rec, agent := filledWith[Record](t), filledWith[Agent](t)
	rec.State, rec.Dir, rec.Project = Running, "/tmp/caf\xe9", "/tmp/\xff/swarm.toml"
	agent.Role, agent.Status, agent.Dir = RoleWorker, AgentActive, "/tmp/caf\xe9"
	change(t, r, func(ctx context.Context, tx *Tx) error {
		return errors.Join(tx.Insert(ctx, &rec), tx.InsertAgent(ctx, &agent))
	})
	change(t, r, func(ctx context.Context, tx *Tx) error {
		gotRec, err := tx.Get(ctx, rec.ID)
		gotAgent, aerr := tx.Agent(ctx, agent.ID)
		if gotRec.Dir != rec.Dir || gotRec.Project != rec.Project || gotAgent.Dir != agent.Dir {
			t.Errorf("read %q, %q, %q", gotRec.Dir, gotRec.Project, gotAgent.Dir)
		}
		return errors.Join(err, aerr)
	})
}

// filledWith returns a value with something in every field, but for pointers to itself.
func filledWith[T any](t *testing.T) (v T) {
	t.Helper()
	n := 0
	fill(t, reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(1700000000, int64(*n))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("ä %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Interface:
		v.Set(reflect.ValueOf("any"))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*Record]() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), n)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field, n)
		}
	default:
		t.Fatalf("a field of type %v: teach this test to fill it", v.Type())
	}
}
