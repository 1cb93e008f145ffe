package spawn_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestRespawn(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		r := hosttest.New(t)
		r.Announce("one", swarm.CapStdin, swarm.CapRestart)
		old := r.MustSpawn(t, "w", "one", hosttest.InWorkspace, func(q *spawn.Request) {
			q.Env, q.Tags, q.Options = []string{"A=1", "SWARM_SECRET=x"}, []string{"t"}, map[string]string{"session": "s"}
			q.Retain, q.OutputLimit, q.Project, q.Stdin, q.Ralph = "876000h0m0s", 7, "/p", true, true
			q.Restart.When = swarm.RestartAlways
			q.Kill = &swarm.KillOptions{Signal: "SIGINT", Mode: swarm.KillMain}
		})
		before := r.One.All(t)[0].Spec
		if ended {
			r.One.End(t, "w", swarm.Exit{Code: 3})
		}
		w := r.MustRespawn(t, "w")
		if w.Status != worker.StatusRunning || w.ID == old.ID || !cmp.Equal(w.Previous, []string{old.ID}) {
			t.Fatalf("respawned %+v", w)
		}
		var after swarm.Spec
		for _, f := range r.One.All(t) {
			if f.ID == w.ID {
				after = f.Spec
			}
		}
		want := before
		want.ID, want.Env = w.ID, slices.Clone(before.Env)
		want.Env[slices.Index(want.Env, "SWARM_WORKER_ID="+old.ID)] = "SWARM_WORKER_ID=" + w.ID
		local := *before.Local
		local.RunDir = r.StateDir().RunDir(w.ID)
		want.Local = &local
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("the backend was asked for (-before +after):\n%s", diff)
		}
		rec := r.Record(t, "w")
		if rec.ID != w.ID || rec.Replaces != nil || rec.Retain != "876000h0m0s" || rec.Project != "/p" || !rec.Ralph {
			t.Errorf("the record is %+v", rec)
		}
		if alive := r.One.Alive(t); !cmp.Equal(alive, []string{"w"}) {
			t.Errorf("alive: %q", alive)
		}
		history := []string{"[w] SPAWNED", "[w] KILL REQUESTED", "[w] KILLED: by orchestrator", "[w] SPAWNED"}
		if ended {
			history = []string{"[w] SPAWNED", "[w] FAILED: exit status 3", "[w] SPAWNED"}
		}
		if diff := cmp.Diff(history, r.HistoryLines(t, "w")); diff != "" {
			t.Errorf("ended %v: the history is (-want +got):\n%s", ended, diff)
		}
		for _, id := range []string{old.ID, w.ID} {
			if _, err := os.Stat(r.StateDir().RunDir(id)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestRespawnForgetsTheOldest(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	ids := []string{r.MustSpawn(t, "w", "one").ID}
	for range spawn.MaxPrevious + 2 {
		ids = append(ids, r.MustRespawn(t, "w").ID)
	}
	w := r.Worker(t, "w")
	if diff := cmp.Diff(ids[2:2+spawn.MaxPrevious], w.Previous); diff != "" {
		t.Errorf("previous (-want +got):\n%s", diff)
	}
	entries, err := os.ReadDir(r.StateDir().RunDir(""))
	if err != nil || len(entries) != spawn.MaxPrevious+1 {
		t.Errorf("%d run directories, %v", len(entries), err)
	}
	if _, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w"}}, kill.Request{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{"w"}}, kill.CleanRequest{}); err != nil {
		t.Fatal(err)
	}
	if left := r.Leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestRespawnMakesLostWorkspaceAgain(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
	if err := os.RemoveAll(w.Workspace.Path); err != nil {
		t.Fatal(err)
	}
	w = r.MustRespawn(t, "w")
	if w.Workspace == nil || w.Workspace.ID != w.ID || w.Dir != w.Workspace.Path || gone(w.Dir) {
		t.Errorf("after its directory was deleted it is in %s, %+v", w.Dir, w.Workspace)
	}
	if _, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w"}}, kill.Request{RemoveWorkspace: true}); err != nil {
		t.Fatal(err)
	}
	if w = r.MustRespawn(t, "w"); w.Workspace == nil || gone(w.Dir) {
		t.Errorf("after its workspace was removed it is in %s, %+v", w.Dir, w.Workspace)
	}
}

func TestRespawnCleanFirst(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	old := r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
	mark := filepath.Join(old.Workspace.Path, "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Tree.Kept = &swarm.Kept{Reason: "worktree has 1 uncommitted change(s)", Forceable: true}
	_, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{CleanFirst: true})
	kept, ok := errors.AsType[*spawn.KeptError](err)
	if !ok || kept.Path != old.Workspace.Path || err.Error() != "cannot remove worktree: worktree has 1 uncommitted change(s)" {
		t.Fatalf("of a dirty workspace: %v", err)
	}
	if w := r.Worker(t, "w"); w.ID != old.ID || w.Status != worker.StatusRunning || len(r.One.Kills["w"]) > 0 {
		t.Fatalf("it was touched: %+v", w)
	}
	r.Tree.Rescues = []swarm.Rescue{{Ref: "refs/r", Command: "git"}}
	var notices []string
	w, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{
		CleanFirst: true, ForceDirty: true, Notice: func(s string) { notices = append(notices, s) },
	})
	if err != nil || w.Workspace == nil || w.Workspace.ID != w.ID || !gone(mark) {
		t.Errorf("forced: %v, %+v", err, w)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "refs/r") {
		t.Errorf("notices: %q", notices)
	}
}

// A start that fails leaves the old record as it was, but for the end of the worker.
func TestRespawnThatFails(t *testing.T) {
	t.Parallel()
	fails := fmt.Errorf("%w: no space", swarm.ErrInvalidSpec)
	for what, c := range map[string]struct {
		running bool
		req     spawn.RespawnRequest
		lose    bool
	}{
		"stopped":        {false, spawn.RespawnRequest{}, false},
		"running":        {true, spawn.RespawnRequest{}, false},
		"clean first":    {true, spawn.RespawnRequest{CleanFirst: true}, false},
		"lost workspace": {true, spawn.RespawnRequest{}, true},
	} {
		r := hosttest.New(t)
		old := r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
		if !c.running {
			if _, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w"}}, kill.Request{}); err != nil {
				t.Fatal(err)
			}
		}
		before := r.Record(t, "w")
		if c.lose {
			if err := os.RemoveAll(before.Workspace.Path); err != nil {
				t.Fatal(err)
			}
		}
		r.One.BeforeSpawn = func(context.Context, swarm.Spec) error { return fails }
		if _, err := r.Spawn().Respawn(t.Context(), "w", c.req); !errors.Is(err, fails) {
			t.Fatalf("%s: %v", what, err)
		}
		after := r.Record(t, "w")
		if after.ID != old.ID || after.State != registry.Stopped || after.Exit == nil || after.Replaces != nil || !cmp.Equal(before.Spec, after.Spec) {
			t.Errorf("%s: the record is %+v", what, after)
		}
		if kept := after.Workspace != nil; kept == c.req.CleanFirst {
			t.Errorf("%s: its workspace is %+v", what, after.Workspace)
		}
		if entries, err := os.ReadDir(r.StateDir().RunDir("")); err != nil || len(entries) != 1 {
			t.Errorf("%s: %d run directories, %v", what, len(entries), err)
		}
		if failed := slices.Contains(r.HistoryLines(t, "w"), "[w] RESPAWN FAILED: no space"); failed != c.running {
			t.Errorf("%s: the history says that it failed: %v: %q", what, failed, r.HistoryLines(t, "w"))
		}
		r.One.BeforeSpawn = nil
		if w := r.MustRespawn(t, "w"); w.Status != worker.StatusRunning || gone(w.Dir) {
			t.Errorf("%s: then it is %+v", what, w)
		}
	}
}

// A respawn that is bound to fail is refused before the worker is touched.
func TestRespawnChecksFirst(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one", func(q *spawn.Request) {
		q.Dir = filepath.Join(r.Root, "sub")
		if err := os.Mkdir(q.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.Remove(w.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("without its directory: %v", err)
	}
	r.Starter.Errors["one"] = swarm.ErrUnavailable
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("without its plugin: %v", err)
	}
	delete(r.Starter.Errors, "one")
	if _, err := r.Spawn().Respawn(t.Context(), "ghost", spawn.RespawnRequest{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no worker: %v", err)
	}
	if now := r.Worker(t, "w"); now.ID != w.ID || now.Status != worker.StatusRunning || len(r.One.Kills) > 0 {
		t.Errorf("it was touched: %+v", now)
	}
}

func TestRespawnOfSurvivor(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one")
	r.One.OnKill = func(_ context.Context, f hosttest.Worker, _ swarm.KillOptions) (swarm.KillResult, error) {
		return swarm.KillResult{Status: swarm.Status{State: swarm.StateRunning}, Survivors: []swarm.Process{{PID: 1, Name: "x"}}}, swarm.ErrSurvivors
	}
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{}); !errors.Is(err, swarm.ErrSurvivors) {
		t.Errorf("%v", err)
	}
	if now := r.Worker(t, "w"); now.ID != w.ID || now.Status != worker.StatusRunning {
		t.Errorf("it is %+v", now)
	}
}

func TestRespawnEphemeral(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	old := r.MustSpawn(t, "w", "one", hosttest.InWorkspace, func(q *spawn.Request) { q.Retain = "none" })
	w := r.MustRespawn(t, "w")
	if w.ID == old.ID || w.Retain != "none" || w.Workspace == nil || w.Workspace.Path != old.Workspace.Path {
		t.Errorf("respawned %+v", w)
	}
	want := []string{"[w] SPAWNED", "[w] KILL REQUESTED", "[w] KILLED: by orchestrator", "[w] SPAWNED"}
	if diff := cmp.Diff(want, r.HistoryLines(t, "w")); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
	r.One.BeforeSpawn = func(context.Context, swarm.Spec) error { return errors.New("no space") }
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{}); err == nil {
		t.Error("respawned without space")
	}
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of one that has ended: %v", err)
	}
}

// Of several at once each has an answer, and one worker runs in the end.
func TestRespawnAtOnce(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one")
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 5 {
		wg.Go(func() {
			_, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !strings.Contains(err.Error(), "cannot respawn 'w'") && !errors.Is(err, store.ErrNotFound):
				t.Errorf("lost with %v", err)
			}
		})
	}
	wg.Wait()
	if won == 0 {
		t.Error("no respawn won")
	}
	if alive := r.One.Alive(t); !cmp.Equal(alive, []string{"w"}) {
		t.Errorf("alive: %q", alive)
	}
	spawned, ended := 0, 0
	for _, line := range r.HistoryLines(t, "w") {
		switch {
		case line == "[w] SPAWNED":
			spawned++
		case strings.HasPrefix(line, "[w] KILLED"):
			ended++
		}
	}
	if spawned != won+1 || ended != won {
		t.Errorf("%d won; the history has %d starts and %d ends", won, spawned, ended)
	}
}

func TestRespawnAs(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	old := r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
	as := r.Request("w", "two")
	as.Command, as.Tags = []string{"other"}, []string{"new"}
	var warnings []string
	w, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{As: &as, Warn: func(w worker.Warning) { warnings = append(warnings, w.Text) }})
	if err != nil || w.Backend != "two" || !cmp.Equal(w.Command, as.Command) || !cmp.Equal(w.Tags, as.Tags) || !cmp.Equal(w.Previous, []string{old.ID}) {
		t.Errorf("%v, %+v", err, w)
	}
	if len(r.One.Alive(t)) > 0 || gone(old.Workspace.Path) {
		t.Errorf("alive %q, the workspace is gone: %v", r.One.Alive(t), gone(old.Workspace.Path))
	}
	if !slices.ContainsFunc(warnings, func(s string) bool { return strings.Contains(s, old.Workspace.Path) }) {
		t.Errorf("no warning says where the workspace is: %q", warnings)
	}
	as.Name = "other"
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{As: &as}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("under another name: %v", err)
	}
}

func TestRespawnDropsDeadOwner(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	alive, err := spawn.OwnerOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	dead := alive
	dead.Start++
	r.MustSpawn(t, "a", "one", func(q *spawn.Request) { q.Owner = &alive })
	r.MustSpawn(t, "b", "one", func(q *spawn.Request) { q.Owner = &dead })
	if w := r.MustRespawn(t, "a"); w.Owner == nil || *w.Owner != alive {
		t.Errorf("the owner is %+v", w.Owner)
	}
	if w := r.MustRespawn(t, "b"); w.Owner != nil {
		t.Errorf("a dead owner was kept: %+v", w.Owner)
	}
}

// Whenever a host is killed in a respawn, the next call that starts the backend
// finds either the new worker or the old record.
func TestCrashInRespawn(t *testing.T) {
	t.Parallel()
	for step, running := range map[string]bool{"workspace": false, "before": false, "after": true} {
		for settling, settle := range map[string]func(*hosttest.Rig) error{
			"kill": func(r *hosttest.Rig) error {
				_, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w1"}}, kill.Request{})
				return err
			},
			"spawn": func(r *hosttest.Rig) error {
				_, err := r.Spawn().Spawn(t.Context(), r.Request("other", "one"))
				return err
			},
			"respawn": func(r *hosttest.Rig) error {
				_, err := r.Spawn().Respawn(t.Context(), "w1", spawn.RespawnRequest{})
				return err
			},
		} {
			t.Run(step+" "+settling, func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				old := hosttest.NewIn(t, root).MustSpawn(t, "w1", "one", hosttest.InWorkspace)
				hosttest.CrashAt(t, root, hosttest.StepRespawn+step)
				r := hosttest.NewIn(t, root)
				if w := r.Worker(t, "w1"); w.Status != worker.StatusStarting || w.ID == old.ID {
					t.Errorf("after the crash: %+v", w)
				}
				if err := settle(r); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Watch().Collect(t.Context()); err != nil {
					t.Fatal(err)
				}
				w := r.Record(t, "w1")
				known := append([]string{w.ID}, w.Previous...)
				if w, _, err := r.Workers(t.Context(), worker.Selection{Names: []string{"other"}}); err == nil {
					known = append(known, w[0].ID)
				}
				entries, err := os.ReadDir(r.StateDir().RunDir(""))
				if err != nil || len(entries) != len(known) {
					t.Errorf("run directories %v, %v; want those of %q", entries, err, known)
				}
				if w.Replaces != nil || w.State == registry.Starting || w.Workspace == nil || gone(w.Workspace.Path) {
					t.Errorf("the record is %+v", w)
				}
				switch settling {
				case "respawn":
					if w.State != registry.Running || w.ID == old.ID {
						t.Errorf("respawned %+v", w)
					}
				default:
					if (w.ID != old.ID) != running {
						t.Errorf("it is %s, the old one was %s", w.ID, old.ID)
					}
				}
				spawned, ended := 0, 0
				for _, line := range r.HistoryLines(t, "w1") {
					if line == "[w1] SPAWNED" {
						spawned++
					}
					if strings.HasPrefix(line, "[w1] KILLED") {
						ended++
					}
				}
				if alive := len(slices.DeleteFunc(r.One.Alive(t), func(n string) bool { return n != "w1" })); spawned-ended != alive {
					t.Errorf("%d starts, %d ends, %d alive: %q", spawned, ended, alive, r.HistoryLines(t, "w1"))
				}
			})
		}
	}
}

// The record of a worker whose time has run out with its end may go at any moment.
func TestRespawnOfWorkerKeptForNoTime(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	old := r.MustSpawn(t, "w", "one", func(q *spawn.Request) { q.Retain = "0s" })
	w := r.MustRespawn(t, "w")
	if w.ID == old.ID || w.Retain != "0s" {
		t.Errorf("respawned %+v", w)
	}
	if err := r.One.Write(hosttest.Worker{ID: w.ID, Spec: swarm.Spec{Name: "w"}, State: swarm.StateExited, Exit: &swarm.Exit{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after its time: %v", err)
	}
}

// A workspace that is removed between the look and the kill is made again.
func TestRespawnWorkspaceRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
	r.One.OnKill = func(ctx context.Context, _ hosttest.Worker, _ swarm.KillOptions) (swarm.KillResult, error) {
		reg, err := r.Store().ToWrite(ctx)
		if err == nil {
			err = reg.Edit(ctx, w.ID, func(rec *registry.Record) { rec.Workspace = nil })
		}
		return swarm.KillResult{}, errors.Join(err, os.RemoveAll(w.Workspace.Path))
	}
	if w := r.MustRespawn(t, "w"); w.Workspace == nil || w.Workspace.ID != w.ID || gone(w.Dir) {
		t.Errorf("respawned %+v in %+v", w, w.Workspace)
	}
}

// gone reports whether a file does not exist.
func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
