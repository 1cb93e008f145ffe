// Package rescue keeps the work of worktrees that are gone, in references of their repositories, from
// which it can be restored byte for byte.
//
// It is imported by package [github.com/swarmhost/swarm/plugins/worktree] alone.
package rescue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Rescues are the refs that one removal made.
type Rescues struct {
	repo *repo.Repo
	// prefix is what their names have in common.
	prefix string
	List   []swarm.Rescue
	hashes []string
}

const noReplace = "GIT_NO_REPLACE_OBJECTS=1"

// Save makes rescue refs for all that exists only in this worktree, if the
// checks let it pass.
func Save(ctx context.Context, t *inspect.Tree) (_ *Rescues, err error) {
	r := &Rescues{repo: t.Repo, prefix: Prefix + refName(t.Ref.Name) + "/" + time.Now().UTC().Format(rescueTime)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Drop(ctx))
		}
	}()
	// A replacement says nothing about the object itself.
	t.Git, t.Repo.Git = t.Git.With(noReplace), t.Repo.Git.With(noReplace)
	tips, err := orphans(ctx, t)
	if err != nil {
		return r, err
	}
	var saved *commit
	if t.Dirty || len(t.Ignored) > 0 {
		if err := t.Repo.PlainObjects(); err != nil {
			return r, err
		}
		c, err := saveWork(ctx, t)
		if err != nil {
			return r, err
		}
		if err := r.add(ctx, c.hash, func(ref string) string { return restore(t, ref, c) }); err != nil {
			return r, err
		}
		saved = &c
		// The rescue has it as its parent.
		tips = slices.DeleteFunc(tips, func(tip string) bool { return tip == t.Head })
	}
	for _, tip := range tips {
		err := r.add(ctx, tip, func(ref string) string {
			if tip == t.Head && t.Branch == "" {
				return shell("git", "-C", t.Ref.Base, "worktree", "add", "--detach", t.Ref.Path, ref)
			}
			return shell("git", "-C", t.Ref.Base, "branch", "rescued-"+tip[:12], ref)
		})
		if err != nil {
			return r, err
		}
	}
	if err := settle(ctx, t, r); err != nil {
		return r, err
	}
	if saved != nil {
		err = compare(ctx, t, *saved)
	}
	return r, err
}

// add makes a ref that did not exist.
func (r *Rescues) add(ctx context.Context, hash string, command func(ref string) string) error {
	ref := r.prefix
	if n := len(r.List); n > 0 {
		ref = fmt.Sprintf("%s-%d", r.prefix, n+1)
	}
	if err := r.repo.PlainRef(ref); err != nil {
		return err
	}
	if _, err := r.repo.Git.Run(ctx, "update-ref", ref, hash, repo.Zeros(hash)); err != nil {
		return err
	}
	r.List = append(r.List, swarm.Rescue{Ref: ref, Command: command(ref)})
	r.hashes = append(r.hashes, hash)
	return nil
}

// Drop deletes them again.
func (r *Rescues) Drop(ctx context.Context) error {
	var errs []error
	for i, rescue := range r.List {
		errs = append(errs, r.repo.DeleteRef(ctx, rescue.Ref, r.hashes[i]))
	}
	return errors.Join(errs...)
}

// refName makes a part of a ref of a worker's name.
func refName(name string) string {
	if strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") {
		return strings.ReplaceAll(name, ".", "-")
	}
	return name
}

// orphans returns commits that go with the worktree unless they get a ref: its
// detached HEAD, where its HEAD was before, and its refs/worktree. Commits
// in the reflog of a branch, such as those before an amend, stay anyway.
func orphans(ctx context.Context, t *inspect.Tree) ([]string, error) {
	candidates, err := visited(ctx, t)
	if err != nil {
		return nil, err
	}
	refs, err := t.Git.Run(ctx, "for-each-ref", "--format=%(objectname)", "refs/worktree/")
	if err != nil {
		return nil, err
	}
	logged, err := t.Repo.Git.Run(ctx, "log", "--walk-reflogs", "--format=^%H", "--branches", "--")
	if err != nil {
		return nil, err
	}
	in := candidates + refs + logged
	if t.Head != "" {
		in += t.Head + "\n"
	}
	// Refs of single worktrees do not count: they go like this one's.
	out, err := t.Repo.Git.Feed(ctx, strings.NewReader(in), "rev-list", "--ignore-missing", "--parents", "--stdin", "--not",
		"--exclude=refs/bisect/*", "--exclude=refs/worktree/*", "--exclude=refs/rewritten/*", "--glob=refs/*")
	if err != nil {
		return nil, err
	}
	var commits []string
	parents := make(map[string]bool)
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		commits = append(commits, words[0])
		for _, p := range words[1:] {
			parents[p] = true
		}
	}
	return slices.DeleteFunc(commits, func(c string) bool { return parents[c] }), nil
}

// visited returns the commits at which HEAD was, one a line.
func visited(ctx context.Context, t *inspect.Tree) (string, error) {
	if t.Head != "" {
		return t.Git.Run(ctx, "log", "--walk-reflogs", "--format=%H", "HEAD", "--")
	}
	// Git shows no log of a HEAD that has no commit, but there is one after
	// "git checkout --orphan".
	return repo.LoggedIn(filepath.Join(t.Admin.Dir, "logs", "HEAD"))
}

// restore returns the command that restores the worktree: its files, its index with the
// staged changes, and HEAD. If the branch has not moved since then, it is checked out too.
func restore(t *inspect.Tree, ref string, c commit) string {
	base, path := git.Word(t.Ref.Base), git.Word(t.Ref.Path)
	steps := []string{
		fmt.Sprintf("git -C %s worktree add --detach --no-checkout %s %s", base, path, cmp.Or(t.Head, ref)),
		fmt.Sprintf("git -C %s read-tree --reset -u %s", path, ref),
	}
	if c.archived {
		steps = append(steps, fmt.Sprintf("git -C %s cat-file blob %s^%d:files.tar | tar -xf - -C %s", path, ref, c.exact, path))
	}
	if c.listed {
		steps = append(steps, fmt.Sprintf("git -C %s cat-file blob %s^%d:%s | (cd %s && xargs -0 -n 2 chmod --)", path, ref, c.exact, modesName, path))
	}
	steps = append(steps, fmt.Sprintf(`git -C %s cat-file blob %s^%d:index > "$(git -C %s rev-parse --absolute-git-dir)/index"`, path, ref, c.exact, path))
	switch {
	case t.Branch == "":
	case t.Head == "":
		steps = append(steps, fmt.Sprintf("git -C %s symbolic-ref HEAD %s", path, git.Word("refs/heads/"+t.Branch)))
	case !c.conflicts:
		// Refused by git, and harmless, if the branch is in use elsewhere or has
		// other changes of the same files.
		steps = append(steps, fmt.Sprintf("git -C %s switch --quiet %s", path, git.Word(t.Branch)))
	}
	return strings.Join(steps, " && ")
}

// shell makes a command of words.
func shell(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = git.Word(w)
	}
	return strings.Join(quoted, " ")
}
