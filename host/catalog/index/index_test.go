package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/index"
)

func newStore(t *testing.T) index.Store {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return index.Store{Dir: dir, Client: download.New(), Env: os.Environ()}
}

// hash is one of the right form.
var hash = strings.Repeat("ab", 32)

// text is an index of one plugin, whose file has a URL.
func text(name, url string) string {
	return fmt.Sprintf(`{"format": 1, "plugins": [{"name": %q, "kind": "backend", "later": true, "versions": [
  {"version": "1.0.0", "files": [{"os": "all", "arch": "all", "url": %q, "sha256": %q}]}]}]}`, name, url, hash)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestParse names the place of what is wrong.
func TestParse(t *testing.T) {
	t.Parallel()
	key := "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	for in, want := range map[string]string{
		text("queue", "https://example.com/x"):                      "",
		text("queue", "d/x.tar.gz"):                                 "",
		`{"format": 1, "key": "` + key + `"}`:                       "",
		text("queue", "../x"):                                       `plugins[0] "queue": versions[0] "1.0.0": files[0]: url: "../x" is not a URL`,
		text("queue", "/etc/passwd"):                                "is not a URL",
		text("queue", "file:///etc/passwd"):                         "is not a URL",
		text("queue", "http://example.com/x"):                       "use https://",
		text("../queue", "x"):                                       "plugins[0] \"../queue\": name: expected",
		strings.Replace(text("queue", "x"), hash, "ab", 1):          "sha256: expected 64",
		strings.Replace(text("queue", "x"), "1.0.0", "../1", 1):     "version: expected one such as 1.2.0",
		strings.Replace(text("queue", "x"), `"os": "all", `, "", 1): "expected os and arch",
		`{"format": 1, "key": "x"}`:                                 "expected a public key of minisign",
		`{"format": 2}`:                                             "format 2, this swarm reads format 1",
		`{}`:                                                        "format 0",
		`[]`:                                                        "cannot unmarshal",
		`{"format": 1, "plugins": [{"name": "x", "kind": ""}, {"name": "x", "kind": ""}]}`: `"x" is there twice`,
	} {
		_, err := index.Parse([]byte(in))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	var p index.Plugin
	for _, v := range []string{"1.2.0", "1.10.0", "2.0.0-rc.1", "v1.3.0"} {
		p.Versions = append(p.Versions, index.Version{Version: v, Files: []index.Build{{OS: "all", Arch: "all"}}})
	}
	p.Versions = append(p.Versions, index.Version{Version: "9.0.0", Files: []index.Build{{OS: "plan9", Arch: "mips"}}})
	got := map[string]string{}
	for _, version := range []string{"", "1.2.0", "v1.2.0", "1.3.0", "2.0.0-rc.1", "9.0.0", "3"} {
		if v := p.Newest(version); v != nil {
			got[version] = v.Version
		}
	}
	want := map[string]string{"": "1.10.0", "1.2.0": "1.2.0", "v1.2.0": "1.2.0", "1.3.0": "v1.3.0", "2.0.0-rc.1": "2.0.0-rc.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDirectory adds, updates and removes an index in a directory, and finds its files.
func TestDirectory(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t), newStore(t).Dir
	write(t, filepath.Join(dir, index.File), text("queue", "d/x"))
	write(t, filepath.Join(dir, "d/x"), "content")
	a, err := s.Add(t.Context(), "acme", dir)
	if err != nil || a.Address != dir || len(a.Plugins) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := s.Add(t.Context(), "acme", dir); err == nil || !strings.Contains(err.Error(), "was added before") {
		t.Errorf("a second time: %v", err)
	}
	checkFile(t, s, a, "content")

	write(t, filepath.Join(dir, index.File), text("stack", "x"))
	if a, err = s.Get("acme"); err != nil || a.Plugins[0].Name != "queue" {
		t.Errorf("before the update: %+v, %v", a, err)
	}
	if a, err = s.Update(t.Context(), "acme"); err != nil || a.Plugins[0].Name != "stack" {
		t.Errorf("updated: %+v, %v", a, err)
	}
	write(t, filepath.Join(dir, index.File), "{}")
	if _, err = s.Update(t.Context(), "acme"); err == nil || !strings.Contains(err.Error(), "format 0") {
		t.Errorf("damaged: %v", err)
	}
	if a, err = s.Get("acme"); err != nil || a.Plugins[0].Name != "stack" {
		t.Errorf("after a failed update: %+v, %v", a, err)
	}
	if err := s.Remove(t.Context(), "acme"); err != nil || len(s.Names()) > 0 {
		t.Errorf("removed: %v, %v", s.Names(), err)
	}
	for what, err := range map[string]error{
		"remove": s.Remove(t.Context(), "acme"),
		"update": second(s.Update(t.Context(), "acme")),
		"trust":  second(s.Trust(t.Context(), "acme")),
	} {
		if _, missing := errors.AsType[*index.NotFoundError](err); !missing {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// checkFile writes the only file of an index.
func checkFile(t *testing.T, s index.Store, a *index.Added, want string) {
	t.Helper()
	b, to := a.Plugins[0].Versions[0].Files[0], filepath.Join(t.TempDir(), "file")
	if err := s.Write(t.Context(), a.Name, a.Address, b, to, 100); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != want {
		t.Errorf("the file has %q, %v", got, err)
	}
	if err := s.Write(t.Context(), a.Name, a.Address, b, to+"2", int64(len(want)-1)); err == nil {
		t.Error("a file above the limit is written")
	}
}

// TestGit uses a bare repository.
func TestGit(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t), newStore(t).Dir
	bare, work := filepath.Join(dir, "index.git"), filepath.Join(dir, "work")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "--bare", "-b", "main", bare)
	git("clone", "-q", bare, work)
	commit := func(name, content string) {
		t.Helper()
		write(t, filepath.Join(work, index.File), text(name, "d/x"))
		write(t, filepath.Join(work, "d/x"), content)
		git("-C", work, "add", "-A")
		git("-C", work, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", content)
		git("-C", work, "push", "-q", "origin", "HEAD:main")
	}
	if _, err := s.Add(t.Context(), "acme", bare); err == nil || len(s.Names()) > 0 {
		t.Errorf("an empty repository: %v, %v", s.Names(), err)
	}
	commit("queue", "one")
	s.Env = append(s.Env, "GIT_DIR="+dir, "GIT_INDEX_FILE=/dev/null") // of a hook, for example
	a, err := s.Add(t.Context(), "acme", "file://"+bare)
	if err != nil || len(a.Plugins) != 1 || a.Plugins[0].Name != "queue" {
		t.Fatalf("%+v, %v", a, err)
	}
	checkFile(t, s, a, "one")
	commit("stack", "two")
	checkFile(t, s, a, "one") // until it is updated
	if a, err = s.Update(t.Context(), "acme"); err != nil || a.Plugins[0].Name != "stack" {
		t.Fatalf("updated: %+v, %v", a, err)
	}
	checkFile(t, s, a, "two")
	if err := os.RemoveAll(bare); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), "acme"); err == nil || !strings.Contains(err.Error(), "cannot fetch file://"+bare+": git: ") {
		t.Errorf("gone: %v", err)
	}
	checkFile(t, s, a, "two")
}

// TestInterruptedGit ends in its own way: a git that is killed leaves locks in its repository.
func TestInterruptedGit(t *testing.T) {
	bin, s := t.TempDir(), newStore(t)
	began, ended := filepath.Join(bin, "began"), filepath.Join(bin, "ended")
	write(t, filepath.Join(bin, "git"), fmt.Sprintf("#!/bin/sh\ntrap 'echo > %q; exit 1' TERM\necho > %q\nwhile :; do sleep 0.1; done\n", ended, began))
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := s.Add(ctx, "acme", "https://example.com/plugins.git")
		result <- err
	}()
	for {
		if _, err := os.Stat(began); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	// Others do not find an index that is not there yet.
	if names := s.Names(); names != nil {
		t.Errorf("while it is added: %v", names)
	}
	cancel()
	if err := <-result; err == nil {
		t.Error("it was added")
	}
	if _, err := os.Stat(ended); err != nil {
		t.Error("git was killed")
	}
}

// TestInterruptedAdd can be done again.
func TestInterruptedAdd(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t), t.TempDir()
	write(t, filepath.Join(dir, index.File), text("queue", "x"))
	write(t, filepath.Join(s.Dir, index.Folder, "acme", index.File), text("queue", "x"))
	if names := s.Names(); names != nil {
		t.Errorf("without a record: %v", names)
	}
	if a, err := s.Add(t.Context(), "acme", dir); err != nil || a.Plugins[0].Name != "queue" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	empty := t.TempDir()
	open := filepath.Join(newStore(t).Dir, "open")
	write(t, filepath.Join(open, index.File), text("queue", "x"))
	if err := os.Chmod(filepath.Join(open, index.File), 0o666); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"":                                "is not the address of an index",
		"--upload-pack=touch x":           "is not the address of an index",
		"ext::sh -c touch":                "git: ",
		"http://example.com/index.json":   "use https://",
		"git://example.com/x":             "expected a directory, or an address that begins with https://",
		"/nowhere/at/all":                 "cannot add index 'acme': /nowhere/at/all does not exist",
		empty:                             empty + " has no index.json, and is not a git repository that has one: git: ",
		filepath.Join(open, index.File):   "is not a directory",
		open:                              "can be written by everybody",
		"https://me:pw@example.com/x.git": "a user or a password is refused",
	} {
		if _, err := s.Add(t.Context(), "acme", address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	if _, err := s.Add(t.Context(), "../x", open); err == nil || !strings.Contains(err.Error(), "can't name an index") {
		t.Errorf("a bad name: %v", err)
	}
	if names := s.Names(); names != nil {
		t.Errorf("left: %v", names)
	}
}

// TestKeys: an index has the key of the whole for plugins without their own.
func TestKeys(t *testing.T) {
	t.Parallel()
	const one, two = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3", "RWQAAAAAAAAAAHmlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	s, dir := newStore(t), newStore(t).Dir
	publish := func(all string, own ...string) {
		t.Helper()
		plugins := []map[string]any{}
		for i, key := range own {
			plugins = append(plugins, map[string]any{"name": fmt.Sprintf("p%d", i), "key": key})
		}
		content, err := json.Marshal(map[string]any{"format": 1, "key": all, "plugins": plugins})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, index.File), string(content))
	}
	changed := func(a *index.Added, err error) (names []string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range a.Changed {
			names = append(names, c.Plugin)
		}
		return names
	}
	publish("", "", one)
	if got := changed(s.Add(t.Context(), "acme", dir)); got != nil {
		t.Errorf("at first: %v", got)
	}
	publish(one, "", "", two) // p0 gets a key, p1 keeps its own, p2 is new
	if got := changed(s.Update(t.Context(), "acme")); got != nil {
		t.Errorf("keys that are new: %v", got)
	}
	publish(two, "", one, "")
	if diff := cmp.Diff([]string{"p0"}, changed(s.Update(t.Context(), "acme"))); diff != "" {
		t.Error(diff)
	}
	publish("", "", "", "")
	for range 2 { // it stays refused
		if diff := cmp.Diff([]string{"p0", "p1", "p2"}, changed(s.Update(t.Context(), "acme"))); diff != "" {
			t.Error(diff)
		}
	}
	changes, err := s.Trust(t.Context(), "acme")
	if err != nil || len(changes) != 3 || changes[0].Was.String() != one || !changes[0].Now.IsZero() {
		t.Errorf("trusted: %+v, %v", changes, err)
	}
	if got := changed(s.Get("acme")); got != nil {
		t.Errorf("after that: %v", got)
	}
}
