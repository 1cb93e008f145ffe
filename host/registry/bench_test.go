package registry

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// typical is a record as a spawn under tmux leaves it.
func typical(i int) Record {
	name := fmt.Sprintf("worker-%d", i)
	id := fmt.Sprintf("1m7z0xwyhn2y%04d", i)
	return Record{
		Spec: Spec{
			ID: id, Name: name, Backend: "tmux", Command: []string{"sh", "-c", "make test && sleep 600"}, Dir: "/home/me/src/project-worktrees/" + name,
			Env: []string{"SWARM_WORKER=" + name, "TERM=xterm-256color"}, Tags: []string{"test"}, Kill: swarm.KillOptions{Grace: 10 * time.Second},
			OutputLimit: 10 << 20, Retain: RetainUntilClean, Created: time.Unix(1700000000, int64(i)),
		},
		State: Running, Handle: swarm.Handle{Version: 1, Data: []byte("/home/me/.local/state/swarm/workers/" + id + "\x00swarm-1a2b3c4d\x00@17\x00%23")},
		Place: swarm.Where{Kind: "tmux window", Name: "swarm-1a2b3c4d:" + name, Parts: map[string]string{"session": "swarm-1a2b3c4d", "window": "@17", "pane": "%23"}},
		PID:   4711, Started: time.Unix(1700000001, int64(i)),
	}
}

// filled is a registry of n typical workers.
func filled(b *testing.B, n int) *Registry {
	b.Helper()
	r, err := Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.Close() })
	each(b, r, n, func(ctx context.Context, tx *Tx, rec *Record) error { return tx.Insert(ctx, rec) })
	return r
}

// each makes one change of what f does with n typical records.
func each(b *testing.B, r *Registry, n int, f func(context.Context, *Tx, *Record) error) {
	b.Helper()
	err := r.Change(b.Context(), func(ctx context.Context, tx *Tx) error {
		for i := range n {
			rec := typical(i)
			if err := f(ctx, tx, &rec); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead is what ls reads.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := filled(b, n)
			for b.Loop() {
				if recs, warnings, err := r.Read(b.Context(), Query{}); err != nil || len(recs) != n || warnings != nil {
					b.Fatal(len(recs), warnings, err)
				}
			}
		})
	}
}

// BenchmarkStatus reads one worker of 1,000, after the database was opened.
func BenchmarkStatus(b *testing.B) {
	r := filled(b, 1000)
	for b.Loop() {
		if recs, _, err := r.Read(b.Context(), Query{Names: []string{"worker-500"}}); err != nil || len(recs) != 1 {
			b.Fatal(len(recs), err)
		}
	}
}

// BenchmarkSpawn is what a spawn writes: a record, and the same record when it runs. The
// worker is removed again.
func BenchmarkSpawn(b *testing.B) {
	r := filled(b, 0)
	for b.Loop() {
		each(b, r, 1, func(ctx context.Context, tx *Tx, rec *Record) error {
			rec.State = Starting
			return tx.Insert(ctx, rec)
		})
		each(b, r, 1, func(ctx context.Context, tx *Tx, rec *Record) error { return tx.Put(ctx, rec) })
		each(b, r, 1, func(ctx context.Context, tx *Tx, rec *Record) error { return tx.Delete(ctx, rec.ID) })
	}
}

// BenchmarkUpdate is a change of 200 workers at once.
func BenchmarkUpdate(b *testing.B) {
	const workers = 200
	r := filled(b, workers)
	for b.Loop() {
		each(b, r, workers, func(ctx context.Context, tx *Tx, rec *Record) error {
			return tx.Update(ctx, rec.ID, func(r *Record) error {
				r.Reason = "stopped"
				return nil
			})
		})
	}
}

// BenchmarkFinish is the end of 200 workers at once, which then run again.
func BenchmarkFinish(b *testing.B) {
	const workers = 200
	r := filled(b, workers)
	for b.Loop() {
		each(b, r, workers, func(ctx context.Context, tx *Tx, rec *Record) error {
			rec.State, rec.PID, rec.Exit = Stopped, 0, &swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled, Time: time.Unix(1700000002, 3)}
			if finished, err := tx.Finish(ctx, rec); err != nil || !finished {
				return fmt.Errorf("finished %t: %w", finished, err)
			}
			return nil
		})
		b.StopTimer()
		each(b, r, workers, func(ctx context.Context, tx *Tx, rec *Record) error { return tx.Put(ctx, rec) })
		b.StartTimer()
	}
}

// BenchmarkAgents reads a team of 50.
func BenchmarkAgents(b *testing.B) {
	const members = 50
	r := filled(b, 0)
	each(b, r, members, func(ctx context.Context, tx *Tx, rec *Record) error {
		return tx.InsertAgent(ctx, &Agent{
			ID: "agent-" + rec.ID, Team: "red", Name: rec.Name, Role: RoleWorker, Model: "m", Color: "#FF6B6B", Dir: rec.Dir, Prompt: "Build it.",
			Status: AgentActive, WorkerID: rec.ID, Worker: rec.Name, TokenHash: rec.ID, Created: rec.Created, Heartbeat: rec.Started,
		})
	})
	for b.Loop() {
		err := r.View(b.Context(), func(ctx context.Context, tx *Tx) error {
			agents, err := tx.Members(ctx, "red")
			if err == nil && len(agents) != members {
				err = fmt.Errorf("%d agents", len(agents))
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
