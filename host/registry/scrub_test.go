package registry

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScrub: the environments of deleted records are in no file of the database,
// however their rows were moved about before, and although others have it open.
// Without the rewrite about one seed in four leaves a copy behind.
func TestScrub(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := openTest(t, dir)
			reader, err := OpenReadOnly(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = reader.Close() })
			rnd := rand.New(rand.NewPCG(seed, 0))
			var live, dead []string
			change := func(what func(context.Context, *Tx) error) {
				t.Helper()
				if err := r.Change(t.Context(), what); err != nil {
					t.Fatal(err)
				}
			}
			for n := range 400 {
				at := 0
				if len(live) > 0 {
					at = rnd.IntN(len(live))
				}
				switch act := rnd.IntN(4); {
				case act < 2 || len(live) == 0:
					rec := bare(fmt.Sprintf("%04d", n))
					rec.Env = []string{"KEY=" + mark(rec.ID) + strings.Repeat("x", rnd.IntN(900))}
					change(func(ctx context.Context, tx *Tx) error { return tx.Insert(ctx, &rec) })
					live = append(live, rec.ID)
				case act == 2:
					change(func(ctx context.Context, tx *Tx) error {
						return tx.Update(ctx, live[at], func(rec *Record) error {
							rec.Reason = strings.Repeat("r", rnd.IntN(1500))
							return nil
						})
					})
				default:
					change(func(ctx context.Context, tx *Tx) error { return tx.Delete(ctx, live[at]) })
					dead = append(dead, live[at])
					live = append(live[:at], live[at+1:]...)
				}
			}
			before := readAll(t, r)
			if err := r.Scrub(t.Context()); err != nil {
				t.Fatal(err)
			}
			stored := contents(t, dir)
			for _, id := range dead {
				if bytes.Contains(stored, []byte(mark(id))) {
					t.Errorf("the environment of %s is still there", id)
				}
			}
			for _, id := range live {
				if !bytes.Contains(stored, []byte(mark(id))) {
					t.Errorf("the environment of %s can't be found: the test proves nothing", id)
				}
			}
			after, _, err := reader.Read(t.Context(), Query{})
			if err != nil || len(after) != len(before) {
				t.Fatalf("%d records, %v; want %d", len(after), err, len(before))
			}
			for i := range after {
				if after[i].ID != before[i].ID || after[i].Env[0] != before[i].Env[0] {
					t.Errorf("record %d changed: %+v", i, after[i])
				}
			}
		})
	}
}

func mark(id string) string { return "SECRET-" + id + "-" }

// contents returns all files of a database.
func contents(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	files, err := filepath.Glob(filepath.Join(dir, File+"*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// TestScrubNothing: what has no environment costs nothing.
func TestScrubNothing(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	insert(t, r, bare("a"))
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.Delete(ctx, bare("a").ID) })
	if err != nil || r.erased.Load() {
		t.Errorf("to be scrubbed: %t, %v", r.erased.Load(), err)
	}
}
