package config

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestTrustFollowsTheContent(t *testing.T) {
	t.Parallel()
	store := Trust{Path: filepath.Join(t.TempDir(), "state", "trusted")}
	path := write(t, "swarm toml\nwith a newline", "[plugins.x]\n")
	if store.Has(path, []byte("[plugins.x]\n")) {
		t.Error("trusted before anybody said so")
	}
	content := []byte("[plugins.x]\n")
	if err := store.Add(path, content, nil); err != nil || !store.Has(path, content) {
		t.Fatalf("not trusted after Add: %v", err)
	}
	if !store.HasFile(path) {
		t.Error("the file is not trusted")
	}
	if store.HasFile(filepath.Dir(path)) {
		t.Error("a directory is trusted")
	}
	if store.Has(path, append(content, '#')) {
		t.Error("another content is trusted")
	}
	if store.Has(filepath.Join(filepath.Dir(path), "other"), content) {
		t.Error("another path is trusted")
	}
	if err := store.Remove(path); err != nil || store.Has(path, content) {
		t.Errorf("trusted after Remove: %v", err)
	}
	if info, err := os.Stat(store.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

// No change is lost, above all none that takes trust away.
func TestTrustIsChangedByOneAtATime(t *testing.T) {
	t.Parallel()
	store := Trust{Path: filepath.Join(t.TempDir(), "trusted")}
	const n = 20
	var old, fresh [n]string
	for i := range n {
		old[i], fresh[i] = write(t, "swarm.toml", "old"), write(t, "swarm.toml", "fresh")
		if err := store.Add(old[i], []byte("old"), nil); err != nil {
			t.Fatal(err)
		}
	}
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() {
			if err := store.Remove(old[i]); err != nil {
				t.Error(err)
			}
		})
		calls.Go(func() {
			if err := store.Add(fresh[i], []byte("fresh"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	for i := range n {
		if store.HasFile(old[i]) || !store.HasFile(fresh[i]) {
			t.Fatalf("pair %d: the old one is trusted: %t, the fresh one: %t", i, store.HasFile(old[i]), store.HasFile(fresh[i]))
		}
	}
}

func TestFindProject(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(filepath.Join(deep, ProjectFile), 0o700); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(root, ProjectFile)
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := FindProject(deep); got != want {
		t.Errorf("found %q, want %q: a directory of that name is not a file", got, want)
	}
}

func TestUserFile(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"/x/swarm/config.toml":          {"XDG_CONFIG_HOME": "/x", "HOME": "/h"},
		"/h/.config/swarm/config.toml":  {"XDG_CONFIG_HOME": "relative", "HOME": "/h"},
		"/h2/.config/swarm/config.toml": {"HOME": "/h2"},
		"":                              {},
	} {
		if got := UserFile(func(k string) string { return env[k] }); got != want {
			t.Errorf("%v: %q, want %q", env, got, want)
		}
	}
}
