package registry

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wantHook checks the cursor and the first retry of a hook; a zero retry means none.
func wantHook(t *testing.T, r *Registry, name string, cursor int64, again Retry) {
	t.Helper()
	seq, ok, err := r.HookCursor(t.Context(), name)
	if err != nil || !ok || seq != cursor {
		t.Errorf("the cursor of %s is %d (%t, %v), want %d", name, seq, ok, err, cursor)
	}
	got, ok, err := r.NextRetry(t.Context(), name)
	if err != nil || ok != (again.Seq != 0) {
		t.Errorf("a retry of %s: %t, %v", name, ok, err)
	}
	if diff := cmp.Diff(again, got); diff != "" {
		t.Errorf("the first retry of %s (-want +got):\n%s", name, diff)
	}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	if _, ok, err := r.HookCursor(t.Context(), "mail"); ok || err != nil {
		t.Errorf("a new hook has a cursor: %t, %v", ok, err)
	}
	late, soon := Retry{Seq: 3, Tries: 1, Next: time.Unix(20, 0)}, Retry{Seq: 5, Tries: 4, Next: time.Unix(10, 0)}
	change(t, r, func(ctx context.Context, tx *Tx) error {
		for _, do := range []func() error{
			func() error { return tx.SetHookCursor(ctx, "mail", 3) },
			func() error { return tx.SetHookCursor(ctx, "mail", 7) },
			func() error { return tx.SetHookCursor(ctx, "chat", 1) },
			func() error { return tx.SetRetry(ctx, "mail", late) },
			func() error { return tx.SetRetry(ctx, "mail", Retry{Seq: 5, Tries: 3, Next: time.Unix(30, 0)}) },
			func() error { return tx.SetRetry(ctx, "mail", soon) },
			func() error { return tx.SetRetry(ctx, "chat", Retry{Seq: 5, Tries: 1, Next: time.Unix(1, 0)}) },
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
	// Another process sees the same.
	other := openTest(t, dir)
	wantHook(t, other, "mail", 7, soon)
	change(t, other, func(ctx context.Context, tx *Tx) error { return tx.DeleteRetry(ctx, "mail", soon.Seq) })
	wantHook(t, r, "mail", 7, late)
	names, err := r.HookNames(t.Context())
	if diff := cmp.Diff([]string{"chat", "mail"}, names); diff != "" || err != nil {
		t.Errorf("names, %v (-want +got):\n%s", err, diff)
	}
	change(t, r, func(ctx context.Context, tx *Tx) error { return tx.ForgetHook(ctx, "chat") })
	if _, ok, err := r.HookCursor(t.Context(), "chat"); ok || err != nil {
		t.Errorf("a forgotten hook has a cursor: %t, %v", ok, err)
	}
	if _, ok, err := r.NextRetry(t.Context(), "chat"); ok || err != nil {
		t.Errorf("a forgotten hook has a retry: %t, %v", ok, err)
	}
	wantHook(t, r, "mail", 7, late)
}

func TestTagsOfEvents(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	want := history()
	want[0].Tags = []string{"ci", "ümläut"}
	appendAll(t, r, want...)
	if diff := cmp.Diff(want, allEvents(t, r)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	first, err := r.Events(t.Context(), EventQuery{First: 1})
	if diff := cmp.Diff(want[:1], first); diff != "" || err != nil {
		t.Errorf("the oldest event, %v (-want +got):\n%s", err, diff)
	}
}
