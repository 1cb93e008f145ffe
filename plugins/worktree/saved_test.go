package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/rescue"
	"github.com/swarmhost/swarm/shared/swarm"
)

// removed is a fixture whose worktree was removed with uncommitted work in it.
func removed(t *testing.T) (*fixture, swarm.Rescue) {
	t.Helper()
	f := withWorktree(t)
	f.write(f.ref.Path, "tracked", "two\n")
	f.write(f.ref.Path, "new", "a\nb\n")
	res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || len(res.Rescues) != 1 {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	return f, res.Rescues[0]
}

func (f *fixture) rescue(req swarm.RescueRequest) []swarm.SavedWork {
	f.Helper()
	if req.Base == "" {
		req.Base = f.repo
	}
	works, err := newWorkspace().Rescue(f.Context(), req)
	if err != nil {
		f.Fatalf("%+v: %v", req, err)
	}
	return works
}

func TestSavedWork(t *testing.T) {
	t.Parallel()
	f, r := removed(t)
	// Something that is not a rescue is not listed.
	f.git(f.repo, "update-ref", "refs/swarm/rescue/stray", "HEAD")
	works := f.rescue(swarm.RescueRequest{})
	if len(works) != 1 || works[0].Ref != r.Ref || works[0].Name != "w" || works[0].Base != f.repo || works[0].Time.IsZero() || works[0].Files != nil {
		t.Fatalf("the list is %+v", works)
	}
	works = f.rescue(swarm.RescueRequest{Base: f.repo + "/dir", Ref: r.Ref})
	want := []swarm.FileChange{{Path: "new", Added: 2}, {Path: "tracked", Added: 1, Removed: 1}}
	if diff := cmp.Diff(want, works[0].Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if works := f.rescue(swarm.RescueRequest{Ref: r.Ref, Action: swarm.RescueDrop}); len(works) != 1 {
		t.Errorf("drop: %+v", works)
	}
	if works := f.rescue(swarm.RescueRequest{}); len(works) != 0 {
		t.Errorf("after the drop there is %+v", works)
	}
	for want, req := range map[error]swarm.RescueRequest{
		swarm.ErrNotFound:    {Base: f.repo, Ref: r.Ref, Action: swarm.RescueRestore},
		swarm.ErrInvalidSpec: {Base: f.top},
	} {
		if _, err := newWorkspace().Rescue(t.Context(), req); !errors.Is(err, want) {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// TestSavedInTheSameSecond: a change in the second of the checkout that keeps the size is
// saved. Git sees it only by the time of the index.
func TestSavedInTheSameSecond(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	path := filepath.Join(f.ref.Path, "tracked")
	for {
		var before, after unix.Stat_t
		f.must(unix.Lstat(path, &before))
		f.write(f.ref.Path, "tracked", "two\n")
		f.must(unix.Lstat(path, &after))
		if before.Ctim.Sec == after.Ctim.Sec && before.Mtim.Sec == after.Mtim.Sec {
			break
		}
		// A new second has begun. The checkout is repeated in this one.
		f.must(os.Remove(path))
		f.git(f.ref.Path, "checkout", "--", "tracked")
	}
	f.write(f.ref.Path, "new", "x\n")
	for begun := time.Now().Unix(); time.Now().Unix() == begun; {
		time.Sleep(10 * time.Millisecond)
	}
	res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || len(res.Rescues) != 1 {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	if got := f.git(f.repo, "show", res.Rescues[0].Ref+":tracked"); got != "two\n" {
		t.Errorf("saved is %q", got)
	}
}

// TestRescueRefuses: only saved work is dropped, and nothing is overwritten.
func TestRescueRefuses(t *testing.T) {
	t.Parallel()
	f, r := removed(t)
	f.write(f.ref.Path, "mine", "mine\n")
	f.write(f.top, "taken/mine", "mine\n")
	f.must(os.Symlink(f.top+"/taken", f.top+"/link"))
	before := f.manifest(f.top, "it's a repo")
	refs, listed := f.git(f.repo, "for-each-ref"), f.git(f.repo, "worktree", "list")
	for _, req := range []swarm.RescueRequest{
		{Ref: "refs/heads/main", Action: swarm.RescueDrop},
		{Ref: rescue.Prefix + "w", Action: swarm.RescueDrop},
		{Action: swarm.RescueDrop},
		{Ref: r.Ref, Action: "destroy"},
		{Ref: r.Ref, Action: swarm.RescueRestore},
		{Ref: r.Ref, Action: swarm.RescueRestore, Into: f.top + "/taken"},
		{Ref: r.Ref, Action: swarm.RescueRestore, Into: f.top + "/taken/mine"},
		{Ref: r.Ref, Action: swarm.RescueRestore, Into: f.top + "/link"},
		{Ref: r.Ref, Action: swarm.RescueRestore, Into: "relative"},
	} {
		req.Base = f.repo
		if works, err := newWorkspace().Rescue(t.Context(), req); err == nil {
			t.Errorf("%+v: %+v", req, works)
		}
	}
	if diff := cmp.Diff(before, f.manifest(f.top, "it's a repo")); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(refs+listed, f.git(f.repo, "for-each-ref")+f.git(f.repo, "worktree", "list")); diff != "" {
		t.Errorf("the repository (-before +after):\n%s", diff)
	}
}

// TestRestoreBranch: a branch that has moved stays where it is.
func TestRestoreBranch(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]func(*fixture){
		"has moved since then": func(f *fixture) { f.git(f.repo, "branch", "-f", "w", f.commit(f.repo, "later", "x\n")) },
		"is gone":              func(f *fixture) { f.git(f.repo, "branch", "-D", "w") },
		"is checked out at":    func(f *fixture) { f.git(f.repo, "switch", "-q", "w") },
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			f, r := removed(t)
			change(f)
			refs := f.git(f.repo, "for-each-ref")
			works := f.rescue(swarm.RescueRequest{Ref: r.Ref, Action: swarm.RescueRestore})
			if !strings.Contains(works[0].Note, why) {
				t.Errorf("the note is %q", works[0].Note)
			}
			if got := f.git(f.ref.Path, "status", "--porcelain"); got != " M tracked\n?? new\n" {
				t.Errorf("status %q", got)
			}
			if diff := cmp.Diff(refs, f.git(f.repo, "for-each-ref")); diff != "" {
				t.Errorf("refs (-before +after):\n%s", diff)
			}
		})
	}
}

// TestDiff: all that changed since the worktree was made, committed or not.
func TestDiff(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.commit(f.ref.Path, "committed", "1\n2\n3\n")
	f.commit(f.repo, "elsewhere", "not of this worktree\n")
	f.write(f.ref.Path, "dir/file", "staged\n")
	f.git(f.ref.Path, "add", "dir/file")
	f.write(f.ref.Path, "tracked", "one\ntwo\n")
	f.write(f.ref.Path, "new file", "\x00binary")
	f.write(f.ref.Path, "x.log", "ignored\n")
	f.must(os.Remove(filepath.Join(f.ref.Path, "other")))
	before, status := f.manifest(f.ref.Path), f.git(f.ref.Path, "status", "--porcelain=v2")
	d, err := newWorkspace().Diff(t.Context(), f.ref, swarm.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []swarm.FileChange{
		{Path: "committed", Added: 3},
		{Path: "dir/file", Added: 1, Removed: 1},
		{Path: "new file", Added: -1, Removed: -1},
		{Path: "other", Removed: 1},
		{Path: "tracked", Added: 1},
	}
	if diff := cmp.Diff(want, d.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	out := f.show(d)
	for _, line := range []string{"+++ b/committed\n", "-one\n+staged\n", "Binary files /dev/null and b/new file differ", "deleted file mode 100644", "+two\n"} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is missing in:\n%s", line, out)
		}
	}
	summary, err := newWorkspace().Diff(t.Context(), f.ref, swarm.DiffOptions{Summary: true})
	f.must(err)
	if diff := cmp.Diff(swarm.Diff{Files: want, Ahead: new(1), Behind: new(1)}, summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(summary.Ahead, d.Ahead); diff != "" {
		t.Errorf("ahead in full (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before+status, f.manifest(f.ref.Path)+f.git(f.ref.Path, "status", "--porcelain=v2")); diff != "" {
		t.Errorf("the worktree has changed: %s", diff)
	}
}

// show runs the command of a diff.
func (f *fixture) show(d swarm.Diff) string {
	f.Helper()
	cmd := f.command("/", d.Command[0], d.Command[1:]...)
	cmd.Env = append(cmd.Env, d.Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.Fatalf("%q: %v\n%s", d.Command, err, out)
	}
	return string(out)
}

// TestHostileDiff: nothing that the repository configures runs.
func TestHostileDiff(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	ran := filepath.Join(f.top, "ran")
	evil := func(key string) string { return "echo " + key + " >> '" + ran + "'; cat" }
	f.write(f.ref.Path, ".gitattributes", "* diff=evil filter=evil\n")
	f.write(f.ref.Path, "tracked", "two\n")
	f.write(f.ref.Path, "new", "new\n")
	for _, key := range []string{
		"core.pager", "pager.diff", "diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean",
		"filter.evil.smudge", "core.fsmonitor", "core.sshCommand", "interactive.diffFilter", "gpg.program",
	} {
		f.git(f.repo, "config", key, evil(key))
	}
	f.git(f.repo, "config", "filter.evil.required", "true")
	f.git(f.repo, "config", "diff.orderFile", filepath.Join(f.top, "missing"))
	f.write(filepath.Join(f.repo, ".git", "hooks"), "post-index-change", "#!/bin/sh\n"+evil("hook")+"\n")
	f.must(os.Chmod(filepath.Join(f.repo, ".git", "hooks", "post-index-change"), 0o755))
	// The control: git alone runs it.
	_ = f.command(f.ref.Path, "git", "-c", "diff.orderFile=/dev/null", "diff").Run()
	if !f.exists(ran) {
		t.Fatal("the fixture is harmless")
	}
	f.must(os.Remove(ran))
	d, err := newWorkspace().Diff(t.Context(), f.ref, swarm.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// With a terminal git starts a pager.
	var show strings.Builder
	for _, arg := range d.Command {
		show.WriteString(git.Word(arg) + " ")
	}
	cmd := f.command("/", "script", "-qec", show.String(), "/dev/null")
	cmd.Env = append(append(cmd.Env, "TERM=xterm", "LESS=FRX"), d.Env...)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "two") {
		t.Errorf("%v:\n%s", err, out)
	}
	want := []swarm.FileChange{{Path: ".gitattributes", Added: 1}, {Path: "new", Added: 1}, {Path: "tracked", Added: 1, Removed: 1}}
	if d, err := newWorkspace().Diff(t.Context(), f.ref, swarm.DiffOptions{Summary: true}); err != nil || !cmp.Equal(want, d.Files) {
		t.Errorf("summary: %+v, %v", d.Files, err)
	}
	if keys, err := os.ReadFile(ran); err == nil {
		t.Errorf("these programs of the repository ran: %s", keys)
	}
}

// TestRescueKeepsPermissions: what is restored has the permissions that it had, so that a private
// file stays private, by the verb and by the command of the shell.
func TestRescueKeepsPermissions(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string]func(f *fixture, r swarm.Rescue) string{
		"verb": func(f *fixture, r swarm.Rescue) string {
			into := filepath.Join(f.top, "back")
			f.rescue(swarm.RescueRequest{Ref: r.Ref, Action: swarm.RescueRestore, Into: into})
			return into
		},
		"command": func(f *fixture, r swarm.Rescue) string {
			f.must(f.command(f.top, "sh", "-c", r.Command).Run())
			return f.ref.Path
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			f.git(f.repo, "config", "core.fileMode", "false")
			modes := map[string]os.FileMode{
				"tracked": 0o750, "new": 0o600, "ignored/secret": 0o640, "ignored/seen": 0o644, "private/deep/file": 0o644, "private/.GIT/x": 0o400,
				"tool": 0o755 | os.ModeSetuid, "two words\nand a line": 0o604, "crlf": 0o600, "open": 0o666, "plain": 0o644,
			}
			f.write(f.ref.Path, ".gitattributes", "crlf text eol=crlf\n")
			f.write(f.ref.Path, ".gitignore", "secret\n")
			for path := range modes {
				f.must(os.MkdirAll(filepath.Dir(filepath.Join(f.ref.Path, path)), 0o755))
				f.write(f.ref.Path, path, path+"\r\n")
			}
			f.must(os.Symlink("tool", filepath.Join(f.ref.Path, "to tool")))
			modes["private"], modes["private/deep"], modes["ignored"] = 0o700|os.ModeDir, 0o711|os.ModeDir, 0o770|os.ModeDir
			for path, mode := range modes {
				f.must(os.Chmod(filepath.Join(f.ref.Path, path), mode))
			}
			res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			if err != nil || len(res.Rescues) != 1 {
				t.Fatalf("Remove: %+v, %v", res, err)
			}
			at := restore(f, res.Rescues[0])
			got := make(map[string]os.FileMode)
			for path := range modes {
				info, err := os.Lstat(filepath.Join(at, path))
				f.must(err)
				got[path] = info.Mode()
			}
			if diff := cmp.Diff(modes, got); diff != "" {
				t.Errorf("permissions (-want +got):\n%s", diff)
			}
		})
	}
}
