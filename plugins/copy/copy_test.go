package copy

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// copyContent stands for a clone on file systems that can't share blocks.
func copyContent(to, from *os.File) error {
	_, err := io.Copy(to, io.NewSectionReader(from, 0, 1<<30))
	return err
}

// fixture is a base with the plugin.
type fixture struct {
	*testing.T
	*Workspace
	top, base string
}

func newFixture(t *testing.T) *fixture {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, Workspace: newWorkspace(), top: top, base: filepath.Join(top, "app")}
	f.write("app/text", "one\ntwo\n")
	f.write("app/sub/deep", "deep\n")
	f.write("app/skip/big", "skipped\n")
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) at(name string) string { return filepath.Join(f.top, name) }

func (f *fixture) write(name, text string) {
	f.Helper()
	f.must(os.MkdirAll(filepath.Dir(f.at(name)), 0o700))
	f.must(os.WriteFile(f.at(name), []byte(text), 0o600))
}

func (f *fixture) read(name string) string {
	f.Helper()
	text, err := os.ReadFile(f.at(name))
	f.must(err)
	return string(text)
}

func (f *fixture) create(options map[string]string) swarm.WorkspaceRef {
	f.Helper()
	ref, err := f.Create(f.Context(), swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.base, Options: options})
	f.must(err)
	return ref
}

// TestCreateKeeps: modes, times, links and attributes are those of the base.
func TestCreateKeeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	when := time.Unix(1_600_000_000, 5000)
	f.must(os.Chmod(f.at("app/text"), 0o751))
	f.must(os.Symlink("no such", f.at("app/broken")))
	f.must(os.Symlink("/etc", f.at("app/out")))
	f.must(os.Link(f.at("app/text"), f.at("app/sub/other")))
	f.write("app/name\xff\n", "odd\n")
	f.must(os.Mkdir(f.at("app/closed"), 0o700))
	f.write("app/closed/in", "in\n")
	f.must(os.Chmod(f.at("app/closed"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(f.at("app/closed"), 0o700) }) // or it stays
	f.must(unix.Mkfifo(f.at("app/pipe"), 0o600))
	hasAttributes := unix.Setxattr(f.at("app/text"), "user.note", []byte("mine"), 0) == nil
	for _, name := range []string{"app/text", "app/sub/deep", "app/sub", "app"} {
		f.must(os.Chtimes(f.at(name), when, when))
	}
	ref := f.create(map[string]string{"exclude": "skip, *.o"})
	if diff := cmp.Diff(swarm.WorkspaceRef{ID: "id", Name: "w", Path: f.at("app-copies/w"), Base: f.base}, ref); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	if f.read("app-copies/w/name\xff\n") != "odd\n" || f.read("app-copies/w/closed/in") != "in\n" {
		t.Error("a file differs")
	}
	for name, want := range map[string]string{"broken": "no such", "out": "/etc"} {
		if got, err := os.Readlink(f.at("app-copies/w/" + name)); got != want {
			t.Errorf("%s leads to %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "/text", "/sub", "/sub/deep"} {
		want, err := os.Stat(f.at("app" + name))
		f.must(err)
		got, err := os.Stat(f.at("app-copies/w" + name))
		f.must(err)
		if got.Mode() != want.Mode() || !got.ModTime().Equal(want.ModTime()) {
			t.Errorf("%s: %s %s, want %s %s", name, got.Mode(), got.ModTime(), want.Mode(), want.ModTime())
		}
	}
	one, err := os.Stat(f.at("app-copies/w/text"))
	f.must(err)
	other, err := os.Stat(f.at("app-copies/w/sub/other"))
	f.must(err)
	if !os.SameFile(one, other) {
		t.Error("the names of one file are two files")
	}
	for _, name := range []string{"skip", "pipe"} {
		if exists(f.at("app-copies/w/" + name)) {
			t.Errorf("%s was copied", name)
		}
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(f.at("app-copies/w/text"), "user.note", value); hasAttributes && (err != nil || string(value[:n]) != "mine") {
		t.Errorf("the attribute is %q, %v", value, err)
	}
	// A copy without changes goes, with directories that their owner can't change.
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Undo: true}); err != nil || res.Kept != nil || res.Astray {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	if exists(f.at("app-copies")) {
		t.Error("an undone Create left a directory")
	}
}

// TestInterruptedCreate leaves nothing that looks like a copy, and its name can be used again.
func TestInterruptedCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	spec := swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.base}
	calls := 0
	f.clone = func(to, from *os.File) error {
		if calls++; calls == 3 {
			runtime.Goexit() // as if the plugin were killed: no error is handled
		}
		return copyContent(to, from)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := f.Create(t.Context(), spec)
		t.Errorf("it was not interrupted: %v", err)
	}()
	<-ended
	f.clone = copyContent
	if left, err := os.ReadDir(f.at("app-copies/w")); err != nil || len(left) > 0 {
		t.Errorf("at the path of the copy: %v, %v", left, err)
	}
	if _, err := f.FindWorkspace(t.Context(), spec); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("FindWorkspace: %v", err)
	}
	if exists(f.at("app-copies/w")) || exists(f.at("app-copies/.swarm-copies")) {
		t.Error("its files are left")
	}
	ref := f.create(nil)
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{}); err != nil || res.Kept != nil {
		t.Errorf("Remove: %+v, %v", res, err)
	}
}

// TestFailedCreate does not remove what others have put at its path.
func TestFailedCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.clone = func(to, from *os.File) error {
		f.write("app-copies/w/mine", "mine\n")
		cancel()
		return copyContent(to, from)
	}
	if ref, err := f.Create(ctx, swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.base}); err == nil {
		t.Errorf("%+v", ref)
	}
	if f.read("app-copies/w/mine") != "mine\n" || exists(f.at("app-copies/.swarm-copies")) {
		t.Error("another one's file is gone, or ours are left")
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("taken/w", "mine")
	f.write("linked/.git", "gitdir: /elsewhere\n")
	f.must(os.Mkdir(f.at("open"), 0o700))
	f.must(os.Chmod(f.at("open"), 0o777))
	for want, spec := range map[string]swarm.WorkspaceSpec{
		"into itself":             {Base: f.base, Parent: "app/sub"},
		"a copy has no branch":    {Base: f.base, Branch: "topic"},
		`unknown option "colour"`: {Base: f.base, Options: map[string]string{"colour": "red"}},
		`option "reflink"`:        {Base: f.base, Options: map[string]string{"reflink": "perhaps"}},
		"option exclude":          {Base: f.base, Options: map[string]string{"exclude": "a,["}},
		`option "large"`:          {Base: f.base, Options: map[string]string{"large": "very"}},
		"already exists":          {Base: f.base, Parent: f.at("taken")},
		"no directory":            {Base: f.at("none")},
		"is not a directory":      {Base: f.at("taken/w")},
		"would share its index":   {Base: f.at("linked")},
		"writable for you alone":  {Base: f.base, Parent: f.at("open")},
		"cannot make a directory": {Base: f.base, Parent: f.at("taken/w/x")},
	} {
		spec.ID, spec.Name = "id", "w"
		_, err := f.Create(t.Context(), spec)
		if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), want) {
			t.Errorf("Create(%+v): %v, want %q", spec, err, want)
		}
		if err := f.CheckCreate(t.Context(), swarm.WorkspaceCheck{Spec: spec}); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("CheckCreate(%+v): %v", spec, err)
		}
	}
	if exists(f.at("app-copies")) || exists(f.at("taken/.swarm-copies")) {
		t.Error("a refused Create left a directory")
	}
	never := swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.base, Options: map[string]string{"reflink": "always"}}
	f.clone = func(_, _ *os.File) error { return syscall.EOPNOTSUPP }
	if _, err := f.Create(t.Context(), never); !errors.Is(err, swarm.ErrInvalidSpec) || exists(f.at("app-copies")) {
		t.Errorf("Create without shared blocks: %v", err)
	}
}

// TestLargeCopy: a copy that would be large says how much it takes.
func TestLargeCopy(t *testing.T) {
	t.Parallel()
	s := source{base: "/b", parent: "/", path: "/"}
	err := s.checkSize([]entry{{Mode: 0o600, Size: 1 << 60}})
	if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), "are free in /") {
		t.Errorf("more than there is: %v", err)
	}
}

// changed makes all kinds of changes.
func (f *fixture) changed() {
	f.write("app-copies/w/text", "one\n2\nthree\n")
	f.write("app-copies/w/new", "new\n")
	f.write("app-copies/w/binary", "a\x00b")
	f.must(os.Remove(f.at("app-copies/w/sub/deep")))
	f.must(os.Chmod(f.at("app-copies/w/skip/big"), 0o700))
	f.must(os.Symlink("target", f.at("app-copies/w/link")))
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, clone := range map[string]func(to, from *os.File) error{"plain": clone, "shared blocks": copyContent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.clone = clone
			ref := f.create(nil)
			f.changed()
			d, err := f.Diff(t.Context(), ref, swarm.DiffOptions{Colour: swarm.ColourNever})
			f.must(err)
			want := []swarm.FileChange{
				{Path: "binary", Added: -1, Removed: -1},
				{Path: "link", Added: 1},
				{Path: "new", Added: 1},
				{Path: "skip/big"},
				{Path: "sub/deep", Removed: 1},
				{Path: "text", Added: 2, Removed: 1},
			}
			if diff := cmp.Diff(want, d.Files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			cmd := exec.CommandContext(t.Context(), d.Command[0], d.Command[1:]...)
			cmd.Env = append(os.Environ(), d.Env...)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%q: %v\n%s", d.Command, err, out)
			}
			for _, line := range []string{"\n+++ b/text\n", "\n-two\n+2\n+three\n", "\n+new\n", "\n-deep\n", "Binary files"} {
				if !strings.Contains(string(out), line) {
					t.Errorf("no %q in\n%s", line, out)
				}
			}
			// A later change of the base does not count as one of the worker.
			f.write("app/text", "another\n")
			f.write("app/later", "later\n")
			if d, err = f.Diff(t.Context(), ref, swarm.DiffOptions{}); err != nil || len(d.Files) != len(want) {
				t.Errorf("%+v, %v", d.Files, err)
			}
			known := d.Files[5].Added >= 0
			if known != (name == "shared blocks") {
				t.Errorf("of a file that changed in the base: %+v", d.Files[5])
			}
		})
	}
}

// TestChangeWithTheSameTimes: a file with the old size and the old times is compared by its content.
func TestChangeWithTheSameTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := time.Unix(1_600_000_000, 0)
	f.must(os.Chtimes(f.at("app/text"), old, old))
	ref := f.create(nil)
	f.write("app-copies/w/text", "One\ntwo\n")
	f.must(os.Chtimes(f.at("app-copies/w/text"), old, old))
	state, err := f.Inspect(t.Context(), ref, swarm.RemoveOptions{})
	if err != nil || state.Kept == nil || state.Kept.Reason != "copy has 1 changed file(s)" {
		t.Errorf("%+v, %v", state.Kept, err)
	}
	// Times alone do not count as work.
	f.write("app-copies/w/text", "one\ntwo\n")
	if state, err := f.Inspect(t.Context(), ref, swarm.RemoveOptions{}); err != nil || state.Kept != nil {
		t.Errorf("%+v, %v", state.Kept, err)
	}
}

// TestRescue restores what Remove saved.
func TestRescue(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.create(nil)
	f.changed()
	res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept != nil || len(res.Rescues) != 1 || exists(ref.Path) || exists(f.at("app-copies/.swarm-copies")) {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	saved := res.Rescues[0]
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "cd '"+f.top+"' && "+saved.Command).CombinedOutput()
	if err != nil || f.read("restored/new") != "new\n" {
		t.Errorf("%s: %v\n%s", saved.Command, err, out)
	}
	works, err := f.Rescue(t.Context(), swarm.RescueRequest{Base: f.base, Ref: saved.Ref, Action: swarm.RescueRestore})
	if err != nil || len(works) != 1 || works[0].Path != ref.Path || len(works[0].Files) != 6 {
		t.Fatalf("%+v, %v", works, err)
	}
	if f.read("app-copies/w/text") != "one\n2\nthree\n" || exists(f.at("app-copies/w/sub/deep")) || f.read("app-copies/w/skip/big") != "skipped\n" {
		t.Error("the restored directory differs")
	}
	if info, err := os.Stat(f.at("app-copies/w/skip/big")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	// Without the base the changed files are restored.
	f.must(os.RemoveAll(f.base))
	works, err = f.Rescue(t.Context(), swarm.RescueRequest{Base: f.base, Ref: saved.Ref, Action: swarm.RescueRestore, Into: f.at("again")})
	if err != nil || f.read("again/new") != "new\n" || exists(f.at("again/skip/other")) || !strings.Contains(works[0].Note, "is gone") {
		t.Errorf("%+v, %v", works, err)
	}
}

// TestLastLook: a change between the saving and the removal keeps the copy, and nothing stays saved.
func TestLastLook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.create(nil)
	f.write("app-copies/w/new", "new\n")
	f.beforeLook = func() { f.write("app-copies/w/late", "late\n") }
	res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept == nil || f.read("app-copies/w/late") != "late\n" {
		t.Errorf("Remove: %+v, %v", res, err)
	}
	if works, err := f.Rescue(t.Context(), swarm.RescueRequest{Base: f.base}); err != nil || len(works) > 0 {
		t.Errorf("saved: %+v, %v", works, err)
	}
	// The removal was interrupted in its last look: the next one finds the copy.
	f.beforeLook = nil
	f.must(os.Rename(ref.Path, filepath.Join(stateDir(ref.Path, ref.ID), checkedDir)))
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{}); err != nil || res.Kept == nil || f.read("app-copies/w/late") != "late\n" {
		t.Errorf("Remove after an interruption: %+v, %v", res, err)
	}
}

// TestClosedTop: a copy whose own directory can't be written to can be removed.
func TestClosedTop(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed for root")
	}
	f := newFixture(t)
	f.must(os.Chmod(f.base, 0o500))
	defer func() { _ = os.Chmod(f.base, 0o700) }() // or its directory stays
	ref := f.create(nil)
	f.beforeLook = func() { f.must(os.WriteFile(filepath.Join(ref.Path, "sub/late"), nil, 0o600)) }
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); err != nil || res.Kept == nil {
		t.Errorf("a copy that changes: %+v, %v", res, err)
	}
	f.beforeLook = nil
	if info, err := os.Stat(ref.Path); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("it has its path again: %v, %v", info, err)
	}
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); err != nil || res.Kept != nil || exists(ref.Path) {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestRemoveKeeps what could be the work of others.
func TestRemoveKeeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.create(nil)
	f.must(os.Rename(ref.Path, f.at("moved")))
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{}); err != nil || !res.Astray || f.read("moved/text") != "one\ntwo\n" {
		t.Errorf("of a copy that was moved: %+v, %v", res, err)
	}
	f.must(os.Rename(f.at("moved"), ref.Path))
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); err != nil || res.Kept == nil || res.Kept.Forceable {
		t.Errorf("of a directory that nothing is known of: %+v, %v", res, err)
	}
	f.must(os.RemoveAll(ref.Path))
	ref = f.create(nil)
	f.must(os.Rename(ref.Path, f.at("moved")))
	f.write("app-copies/w/mine", "mine\n")
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); err != nil || res.Kept == nil || f.read("app-copies/w/mine") != "mine\n" {
		t.Errorf("of another directory at its path: %+v, %v", res, err)
	}
	f.must(os.RemoveAll(ref.Path))
	f.must(os.Rename(f.at("moved"), ref.Path))
	// A link in the copy leads out of it.
	f.write("outside/file", "mine\n")
	f.must(os.Symlink(f.at("outside"), f.at("app-copies/w/out")))
	sleep := exec.CommandContext(t.Context(), "sleep", "3600")
	sleep.Dir = ref.Path
	f.must(sleep.Start())
	res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept == nil || !strings.Contains(res.Kept.Reason, "runs in it") {
		t.Errorf("with a process in it: %+v, %v", res, err)
	}
	if state, err := f.Inspect(t.Context(), ref, swarm.RemoveOptions{Force: true, Vacant: true}); err != nil || state.Kept != nil {
		t.Errorf("once that is gone: %+v, %v", state, err)
	}
	f.must(sleep.Process.Kill())
	_ = sleep.Wait() // it was killed
	if res, err := f.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); err != nil || res.Kept != nil || f.read("outside/file") != "mine\n" {
		t.Errorf("Remove: %+v, %v", res, err)
	}
}
