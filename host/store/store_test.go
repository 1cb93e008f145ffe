package store

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/registry"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s := New(Options{Dir: dir, Logger: hclog.NewNullLogger()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func insert(t *testing.T, s *Store, name string, tags ...string) {
	t.Helper()
	err := s.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		return tx.Insert(ctx, &registry.Record{
			State: registry.Running,
			Spec:  registry.Spec{ID: "id-" + name, Name: name, Backend: "b", Command: []string{"true"}, Dir: "/", Tags: tags},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Reading makes no registry, Writing does, and names are the same for both.
func TestFirstRegistry(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	if reg, err := s.ToRead(t.Context()); reg != nil || err != nil || s.IsOpen() {
		t.Errorf("a registry that was never made: %v, %v", reg, err)
	}
	if reg, err := s.ToChange(t.Context()); reg != nil || err != nil {
		t.Errorf("for changes: %v, %v", reg, err)
	}
	if err := s.View(t.Context(), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("View: %v", err)
	}
	if names, err := Names(t.Context(), dir); len(names) > 0 || err != nil {
		t.Errorf("names: %q, %v", names, err)
	}
	insert(t, s, "w", "a", "b")
	names, err := Names(t.Context(), dir)
	if diff := cmp.Diff([]string{"w"}, names); diff != "" || err != nil {
		t.Errorf("names (-want +got):\n%s%v", diff, err)
	}
	tags, err := Tags(t.Context(), dir)
	if diff := cmp.Diff([]string{"a", "b"}, tags); diff != "" || err != nil {
		t.Errorf("tags (-want +got):\n%s%v", diff, err)
	}
}

// A reader continues with the registry that it was given while another call opens one for
// changes.
func TestReaderKeepsItsRegistry(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	insert(t, open(t, dir), "w")
	for range 20 {
		s := open(t, dir)
		reg, err := s.ToRead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() {
			if recs, _, err := reg.Read(t.Context(), registry.Query{}); err != nil || len(recs) != 1 {
				t.Errorf("%d records, %v", len(recs), err)
			}
		})
		both.Go(func() {
			if _, err := s.ToWrite(t.Context()); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "state"))
	insert(t, s, "a", "odd")
	insert(t, s, "b")
	insert(t, s, "id-a", "odd")
	reg, err := s.ToRead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		names []string
		tag   string
		want  []string
	}{
		{nil, "", []string{"a", "b", "id-a"}},
		{nil, "odd", []string{"a", "id-a"}},
		{[]string{"b", "a", "b", "id-b"}, "", []string{"b", "a"}},
		{[]string{"id-a"}, "", []string{"id-a"}}, // a name is stronger than an id
	} {
		recs, warnings, err := Select(t.Context(), reg, c.names, c.tag)
		var got []string
		for _, r := range recs {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil || len(warnings) > 0 {
			t.Errorf("%q, tag %q (-want +got):\n%s%v, %q", c.names, c.tag, diff, err, warnings)
		}
	}
	if _, _, err := Select(t.Context(), reg, []string{"a", "none"}, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
}
