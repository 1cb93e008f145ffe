package shell_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/spawn"
)

func TestParseSession(t *testing.T) {
	t.Parallel()
	me, err := shell.ParseSession(fmt.Sprint(os.Getpid()))
	if err != nil || me.Owner == nil || me.Owner.PID != os.Getpid() || me.ID != fmt.Sprintf("%d-%d", me.Owner.PID, me.Owner.Start) {
		t.Errorf("%+v, %v", me, err)
	}
	for _, label := range []string{"a", "build.2_x-Y", strings.Repeat("a", 64)} {
		if s, err := shell.ParseSession(label); err != nil || s.ID != label || s.Owner != nil {
			t.Errorf("%q: %+v, %v", label, s, err)
		}
	}
	for _, bad := range []string{"", "worker:x", "a b", "é", "0", "-1", "999999999", strings.Repeat("a", 65)} {
		if s, err := shell.ParseSession(bad); err == nil {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}

// TestSessionsDoNotSeeEachOther: a shell of another session can't be found, read,
// or killed.
func TestSessionsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	other := shell.Session{ID: "s2"}
	sh := w.start(h, session, `echo secret; exec sleep 999`)
	theirs := w.start(h, other, `exec sleep 999`)
	if _, err := shell.Next(t.Context(), h, other, sh.ID, ""); !errors.As(err, new(*shell.NotFoundError)) || err.Error() != "Shell not found: "+sh.ID {
		t.Errorf("its output: %v", err)
	}
	if res := w.kill(h, other, gently(sh.ID)); res.Success || res.Problem != "Shell not found: "+sh.ID || res.Shell.ID != "" {
		t.Errorf("%+v", res)
	}
	for _, tt := range []struct {
		s    shell.Session
		want []string
	}{{session, []string{sh.ID}}, {other, []string{theirs.ID}}, {shell.Session{}, []string{sh.ID, theirs.ID}}, {shell.Session{ID: "s3"}, nil}} {
		if diff := cmp.Diff(tt.want, w.list(h, tt.s, true)); diff != "" {
			t.Errorf("session %q: %s", tt.s.ID, diff)
		}
	}
	if got := w.until(h, session, sh.ID, "secret"); got != "secret\n" {
		t.Errorf("%q", got)
	}
}

// TestRetention: a shell is known for an hour after its end, whichever process removes it.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	sh := w.start(h, session, `echo hello`)
	w.ended(h, session, sh.ID)
	if got := w.list(h, session, false); got != nil {
		t.Errorf("it is listed among those that run: %v", got)
	}
	for ago, want := range map[time.Duration][]string{59 * time.Minute: {sh.ID}, 61 * time.Minute: nil} {
		if _, err := h.Watch().Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := h.Store().Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
			recs, _, err := tx.Read(ctx, registry.Query{Names: []string{sh.ID}})
			if err != nil {
				return err
			}
			return tx.Update(ctx, recs[0].ID, func(r *registry.Record) error {
				r.Exit.Time = time.Now().Add(-ago)
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.list(h, session, true)); diff != "" {
			t.Errorf("%s after its end: %s", ago, diff)
		}
		if res := w.kill(h, session, gently(sh.ID)); (res.Problem == "Shell not found: "+sh.ID) != (want == nil) {
			t.Errorf("%s after its end: %+v", ago, res)
		}
		if want == nil {
			break
		}
	}
	c, err := h.Watch().Collect(t.Context())
	if err != nil || len(c.Removed) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := os.Stat(sh.OutputFile); err == nil {
		t.Error("its output is still there")
	}
}

// TestListWithoutAnything: nothing is made where there never was a worker.
func TestListWithoutAnything(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	h := open(t.Context(), t, state, "A=b")
	shells, err := shell.List(t.Context(), h, shell.Session{}, true)
	if err != nil || shells != nil {
		t.Errorf("%v, %v", shells, err)
	}
	if _, err := shell.Next(t.Context(), h, shell.Session{}, "bg-abcdef", ""); !errors.As(err, new(*shell.NotFoundError)) {
		t.Error(err)
	}
	if files, err := os.ReadDir(state); err != nil || len(files) > 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestWorkersAreNoShells: what was spawned otherwise is not found, whatever its name.
func TestWorkersAreNoShells(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	_, err := h.Spawn().Spawn(t.Context(), spawn.Request{Name: "bg-mine00", Backend: "process", Command: []string{"sleep", "999"}, Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	if res := w.kill(h, shell.Session{}, gently("bg-mine00")); res.Success || res.Problem != "Shell not found: bg-mine00" {
		t.Errorf("%+v", res)
	}
	if got := w.list(h, shell.Session{}, true); got != nil {
		t.Errorf("%v", got)
	}
}

// list returns the ids of shells.
func (w *world) list(h *host.Host, s shell.Session, all bool) []string {
	w.Helper()
	shells, err := shell.List(w.Context(), h, s, all)
	if err != nil {
		w.Fatal(err)
	}
	var ids []string
	for _, sh := range shells {
		ids = append(ids, sh.ID)
	}
	return ids
}
