package saved_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// work returns saved work of a repository.
func work(base, name, when string) swarm.SavedWork {
	at, err := time.Parse("150405", when)
	if err != nil {
		panic(err)
	}
	return swarm.SavedWork{Ref: "refs/swarm/rescue/" + name + "/" + when, Name: name, Base: base, Time: at}
}

// repositories has the workspace plugin of a rig know the saved work of repositories, and nothing
// of other directories. It returns the requests.
func repositories(r *hosttest.Rig, all ...swarm.SavedWork) *[]swarm.RescueRequest {
	r.Announce("worktree", swarm.CapRescue, swarm.CapDiff)
	var asked []swarm.RescueRequest
	r.Tree.OnRescue = func(req swarm.RescueRequest) ([]swarm.SavedWork, error) {
		asked = append(asked, req)
		if !slices.ContainsFunc(all, func(w swarm.SavedWork) bool { return w.Base == req.Base }) {
			return nil, fmt.Errorf("%w: no repository", swarm.ErrInvalidSpec)
		}
		var found []swarm.SavedWork
		for _, w := range all {
			if w.Base == req.Base && (req.Ref == "" || req.Ref == w.Ref) {
				found = append(found, w)
			}
		}
		return found, nil
	}
	return &asked
}

func refs(works []swarm.SavedWork) []string {
	var all []string
	for _, w := range works {
		all = append(all, saved.ID(w))
	}
	return all
}

// TestList asks the repositories of workers, those in which work was saved and that of the caller,
// each once.
func TestList(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "a", "one", hosttest.InWorkspace)
	r.MustSpawn(t, "b", "one", hosttest.InWorkspace)
	removed, here, nowhere := t.TempDir(), t.TempDir(), t.TempDir()
	gone := filepath.Join(removed, "gone")
	for _, base := range []string{removed, gone} {
		if err := r.StateDir().NoteRescueBase(statedir.Repository{Base: base}); err != nil {
			t.Fatal(err)
		}
	}
	asked := repositories(r, work(removed, "old", "000001"), work(r.WorkDir, "a", "000003"), work(here, "c", "000002"), work(gone, "x", "000004"))
	works, warnings, err := r.Saved().List(t.Context(), here, nowhere, r.WorkDir)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if diff := cmp.Diff([]string{"old/000001", "c/000002", "a/000003"}, refs(works)); diff != "" {
		t.Errorf("saved work (-want +got):\n%s", diff)
	}
	bases := map[string]int{}
	for _, req := range *asked {
		bases[req.Base]++
	}
	// The caller's directory may be in the repository of a worker: only the plugin knows.
	if diff := cmp.Diff(map[string]int{removed: 1, r.WorkDir: 2, here: 1, nowhere: 1}, bases); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
}

// TestListWarns names a repository that can't be asked, and lists the others.
func TestListWarns(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one") // which makes the state directory
	broken, fine := t.TempDir(), t.TempDir()
	for _, base := range []string{broken, fine} {
		if err := r.StateDir().NoteRescueBase(statedir.Repository{Base: base}); err != nil {
			t.Fatal(err)
		}
	}
	repositories(r, work(fine, "a", "000001"))
	works, warnings, err := r.Saved().List(t.Context())
	if err != nil || len(works) != 1 || len(warnings) != 1 || warnings[0] != "cannot look for saved work in "+broken+": no repository" {
		t.Errorf("%v, %q, %v", refs(works), warnings, err)
	}
	if _, err := r.Saved().Find(t.Context(), "ghost", false); err == nil || !strings.Contains(err.Error(), broken) {
		t.Errorf("a name that may be there: %v", err)
	}
}

// TestListUnsupported: a plugin that can't list what it saves is named once it has saved something.
func TestListUnsupported(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "a", "one", hosttest.InWorkspace)
	if works, warnings, err := r.Saved().List(t.Context(), t.TempDir()); err != nil || len(works) > 0 || len(warnings) > 0 {
		t.Errorf("before work was saved: %v, %q, %v", refs(works), warnings, err)
	}
	if err := r.StateDir().NoteRescueBase(statedir.Repository{Base: w.Workspace.Base}); err != nil {
		t.Fatal(err)
	}
	want := "cannot look for saved work in " + w.Workspace.Base + ": plugin 'worktree' does not support rescue: "
	if _, warnings, err := r.Saved().List(t.Context()); err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], want) {
		t.Errorf("after work was saved: %q, %v, want %q", warnings, err, want)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "a", "one", hosttest.InWorkspace)
	older, newer, index := work(r.WorkDir, "a", "000001"), work(r.WorkDir, "a", "000002"), work(r.WorkDir, "a", "000002")
	index.Ref += "/index"
	other := work(r.WorkDir, "b", "000003")
	repositories(r, older, newer, index, other)
	for name, want := range map[string]swarm.SavedWork{
		"a": newer, "a/000001": older, older.Ref: older, "b": other, index.Ref: index,
	} {
		if got, err := r.Saved().Find(t.Context(), name, false); err != nil || got.Ref != want.Ref {
			t.Errorf("%s is %s, %v; want %s", name, got.Ref, err, want.Ref)
		}
	}
	if got, err := r.Saved().Find(t.Context(), "a", true); !errors.Is(err, saved.ErrAmbiguous) || !strings.Contains(err.Error(), "a/000001") {
		t.Errorf("one of several is %s, %v", got.Ref, err)
	}
	if got, err := r.Saved().Find(t.Context(), "b", true); err != nil || got.Ref != other.Ref {
		t.Errorf("the only one is %s, %v", got.Ref, err)
	}
	if _, err := r.Saved().Find(t.Context(), "ghost", false); err == nil || err.Error() != "no saved work 'ghost'" {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestActions passes the request on, and reports work that is gone.
func TestActions(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "a", "one", hosttest.InWorkspace)
	w := work(r.WorkDir, "a", "000001")
	asked := repositories(r, w)
	for what, call := range map[string]func(swarm.SavedWork) (swarm.SavedWork, error){
		"":        func(w swarm.SavedWork) (swarm.SavedWork, error) { return r.Saved().Show(t.Context(), w) },
		"restore": func(w swarm.SavedWork) (swarm.SavedWork, error) { return r.Saved().Restore(t.Context(), w, "/into") },
		"drop":    func(w swarm.SavedWork) (swarm.SavedWork, error) { return r.Saved().Drop(t.Context(), w) },
	} {
		*asked = nil
		got, err := call(w)
		want := swarm.RescueRequest{Base: r.WorkDir, Ref: w.Ref, Action: swarm.RescueAction(what)}
		if what == "restore" {
			want.Into = "/into"
		}
		if err != nil || got.Ref != w.Ref || !cmp.Equal(*asked, []swarm.RescueRequest{want}) {
			t.Errorf("%q: %+v, %v; asked for %+v", what, got, err, *asked)
		}
		if _, err := call(work(r.WorkDir, "ghost", "000009")); !errors.Is(err, swarm.ErrNotFound) {
			t.Errorf("%q of work that is gone: %v", what, err)
		}
	}
	far := w
	far.Host = "devbox"
	if _, err := r.Saved().Show(t.Context(), far); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("on a machine that no worker is on: %v", err)
	}
}

// TestOnAnotherMachine has the backend that made a workspace find what was saved from it.
func TestOnAnotherMachine(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "two")
	repo := statedir.Repository{Base: "/far", Host: "devbox", Plugin: "two"}
	if err := r.StateDir().NoteRescueBase(repo); err != nil {
		t.Fatal(err)
	}
	w := work("/far", "a", "000001")
	asked := repositories(r, w)
	r.Starter.Peers["two"].Workspace = r.Tree
	r.Announce("two", swarm.CapRescue)
	works, warnings, err := r.Saved().List(t.Context())
	if err != nil || len(warnings) > 0 || len(works) != 1 || works[0].Host != "devbox" {
		t.Fatalf("%+v, %q, %v", works, warnings, err)
	}
	if _, err := r.Saved().Drop(t.Context(), works[0]); err != nil {
		t.Fatal(err)
	}
	want := []swarm.RescueRequest{{Base: "/far", Host: "devbox"}, {Base: "/far", Host: "devbox", Ref: w.Ref, Action: swarm.RescueDrop}}
	if diff := cmp.Diff(want, *asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
}
