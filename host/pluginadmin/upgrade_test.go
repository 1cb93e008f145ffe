package pluginadmin_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/index"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

// published is an index in a directory.
type published struct {
	*testing.T
	dir    string
	plugin index.Plugin
}

// add makes an archive of a version of queue, and adds it to the index.
func (p *published) add(version string) (sum string) {
	p.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	content := "#!/bin/sh\n# " + version + "\n"
	err := files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "swarm-plugin-queue", Mode: 0o755, Size: int64(len(content))})
	if _, writeErr := files.Write([]byte(content)); err != nil || writeErr != nil {
		p.Fatal(err, writeErr)
	}
	name := "swarm-plugin-queue_" + version + "_all_all.tar.gz"
	if err := errors.Join(files.Close(), zipped.Close(), os.WriteFile(filepath.Join(p.dir, name), b.Bytes(), 0o600)); err != nil {
		p.Fatal(err)
	}
	sum = fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
	p.plugin.Versions = append(p.plugin.Versions, index.Version{Version: version, Files: []index.Build{{OS: "all", Arch: "all", URL: name, SHA256: sum}}})
	text, err := json.Marshal(index.Index{Format: 1, Plugins: []index.Plugin{p.plugin}})
	if err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, index.File), text, 0o600); err != nil {
		p.Fatal(err)
	}
	return sum
}

// TestUpgradeAndPrune: the newest release of the origin is installed, and what nothing needs goes.
func TestUpgradeAndPrune(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &published{T: t, dir: dir, plugin: index.Plugin{Name: "queue", Kind: "backend"}}
	first := p.add("1.0.0")
	a := r.Plugins()
	if _, err := a.Sources.Indexes.Add(t.Context(), "acme", dir); err != nil {
		t.Fatal(err)
	}
	queue(t, r, "1.0.0") // which the archive is of
	got, err := a.Install(t.Context(), pluginadmin.InstallRequest{Source: "queue"})
	if err != nil || got.Origin != "acme/queue" || got.Version != "1.0.0" {
		t.Fatalf("%+v, %v", got, err)
	}
	upgrade := func(dry bool) pluginadmin.Upgraded {
		t.Helper()
		list, err := a.Upgrade(t.Context(), pluginadmin.UpgradeRequest{DryRun: dry})
		if err != nil || len(list) != 1 || list[0].Err != nil {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	versions := func() []string { return a.Catalog.Versions("queue") }
	if u := upgrade(false); !u.Current() || u.Installed != nil {
		t.Errorf("nothing newer: %+v", u)
	}
	p.add("2.0.0-rc.1")
	p.add("1.10.0")
	p.add("1.9.0")
	queue(t, r, "1.10.0")
	if u := upgrade(true); u.Current() || u.To != "1.10.0" || u.Installed != nil || len(versions()) != 1 {
		t.Errorf("a dry run: %+v, %v", u, versions())
	}
	if u := upgrade(false); u.Installed == nil || u.Installed.Version != "1.10.0" || u.From != "1.0.0" {
		t.Errorf("%+v", u)
	}
	queue(t, r, "2.0.0-rc.1")
	if _, err := a.Install(t.Context(), pluginadmin.InstallRequest{Source: "acme/queue@2.0.0-rc.1"}); err != nil {
		t.Fatal(err)
	}
	if e, err := a.Catalog.Find("queue"); err != nil || e.Installed.Version != "1.10.0" {
		t.Errorf("the version that is used: %+v, %v", e, err)
	}

	prune := func(dry bool, keep ...string) (names []string) {
		t.Helper()
		list, err := a.Prune(t.Context(), map[string][]string{"queue": keep}, dry)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			names = append(names, p.Version)
		}
		return names
	}
	if diff := cmp.Diff([]string{"2.0.0-rc.1", "1.0.0"}, prune(true)); diff != "" || len(versions()) != 3 {
		t.Error(diff, versions())
	}
	if diff := cmp.Diff([]string{"2.0.0-rc.1"}, prune(false, "v1.0.0")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1.0.0"}, prune(false)); diff != "" {
		t.Error(diff)
	}

	// A plugin that a lock names is installed from its origin, and nothing else in its place.
	queue(t, r, "1.0.0")
	locked := pluginadmin.Locked{Name: "queue", Version: "1.0.0", SHA256: first, Provenance: catalog.Provenance{Source: "elsewhere", Origin: "acme/queue"}}
	if got, err := a.InstallLocked(t.Context(), locked); err != nil || got.Version != "1.0.0" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, change := range map[string]func(*pluginadmin.Locked){
		"another hash":    func(l *pluginadmin.Locked) { l.SHA256 = fmt.Sprintf("%064x", 1) },
		"no hash":         func(l *pluginadmin.Locked) { l.SHA256 = "" },
		"another name":    func(l *pluginadmin.Locked) { l.Name = "tmux" },
		"no such version": func(l *pluginadmin.Locked) { l.Version = "3.0.0" },
		"from a file":     func(l *pluginadmin.Locked) { l.Origin = "" },
	} {
		wrong := locked
		change(&wrong)
		if got, err := a.InstallLocked(t.Context(), wrong); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestOldProgramAsNew: an index that gives a program alone can't pass an older one off as a newer version.
func TestOldProgramAsNew(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("#!/bin/sh\n# 1.0.0\n")
	text, err := json.Marshal(index.Index{Format: 1, Plugins: []index.Plugin{{Name: "queue", Kind: "backend", Versions: []index.Version{{
		Version: "2.0.0", Files: []index.Build{{OS: "all", Arch: "all", URL: "swarm-plugin-queue", SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}},
	}}}}})
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "swarm-plugin-queue"), content, 0o600), os.WriteFile(filepath.Join(dir, index.File), text, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	a := r.Plugins()
	if _, err := a.Sources.Indexes.Add(t.Context(), "acme", dir); err != nil {
		t.Fatal(err)
	}
	queue(t, r, "1.0.0")
	if got, err := a.Install(t.Context(), pluginadmin.InstallRequest{Source: "queue"}); err == nil {
		t.Errorf("installed %+v", got)
	}
	if got := a.Catalog.Versions("queue"); got != nil {
		t.Errorf("installed: %v", got)
	}
}
