package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// rescues are the refs that one removal made.
type rescues struct {
	repo *repo
	// prefix is what their names have in common.
	prefix string
	list   []swarm.Rescue
	hashes []string
}

const noReplace = "GIT_NO_REPLACE_OBJECTS=1"

// save makes rescue refs for all that exists only in this worktree, if the
// checks let it pass.
func (t *tree) save(ctx context.Context) (_ *rescues, err error) {
	r := &rescues{repo: t.repo, prefix: rescuePrefix + refName(t.ref.Name) + "/" + time.Now().UTC().Format(rescueTime)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.drop(ctx))
		}
	}()
	// A replacement says nothing about the object itself.
	t.git, t.repo.git = t.git.with(noReplace), t.repo.git.with(noReplace)
	tips, err := t.orphans(ctx)
	if err != nil {
		return r, err
	}
	var saved *commit
	if t.dirty || len(t.ignored) > 0 {
		if err := t.repo.plainObjects(); err != nil {
			return r, err
		}
		c, err := t.commit(ctx)
		if err != nil {
			return r, err
		}
		if err := r.add(ctx, c.hash, func(ref string) string { return t.restore(ref, c) }); err != nil {
			return r, err
		}
		saved = &c
		// The rescue has it as its parent.
		tips = slices.DeleteFunc(tips, func(tip string) bool { return tip == t.head })
	}
	for _, tip := range tips {
		err := r.add(ctx, tip, func(ref string) string {
			if tip == t.head && t.branch == "" {
				return shell("git", "-C", t.ref.Base, "worktree", "add", "--detach", t.ref.Path, ref)
			}
			return shell("git", "-C", t.ref.Base, "branch", "rescued-"+tip[:12], ref)
		})
		if err != nil {
			return r, err
		}
	}
	if err := t.settle(ctx, r); err != nil {
		return r, err
	}
	if saved != nil {
		err = t.compare(ctx, *saved)
	}
	return r, err
}

// add makes a ref that did not exist.
func (r *rescues) add(ctx context.Context, hash string, command func(ref string) string) error {
	ref := r.prefix
	if n := len(r.list); n > 0 {
		ref = fmt.Sprintf("%s-%d", r.prefix, n+1)
	}
	if err := r.repo.plainRef(ref); err != nil {
		return err
	}
	if _, err := r.repo.git.run(ctx, "update-ref", ref, hash, zeros(hash)); err != nil {
		return err
	}
	r.list = append(r.list, swarm.Rescue{Ref: ref, Command: command(ref)})
	r.hashes = append(r.hashes, hash)
	return nil
}

func (r *rescues) drop(ctx context.Context) error {
	var errs []error
	for i, rescue := range r.list {
		errs = append(errs, r.repo.deleteRef(ctx, rescue.Ref, r.hashes[i]))
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
func (t *tree) orphans(ctx context.Context) ([]string, error) {
	candidates, err := t.visited(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := t.git.run(ctx, "for-each-ref", "--format=%(objectname)", "refs/worktree/")
	if err != nil {
		return nil, err
	}
	logged, err := t.repo.git.run(ctx, "log", "--walk-reflogs", "--format=^%H", "--branches", "--")
	if err != nil {
		return nil, err
	}
	in := candidates + refs + logged
	if t.head != "" {
		in += t.head + "\n"
	}
	// Refs of single worktrees do not count: they go like this one's.
	out, err := t.repo.git.feed(ctx, strings.NewReader(in), "rev-list", "--ignore-missing", "--parents", "--stdin", "--not",
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

// logLimit bounds a log of HEAD that git can't show.
const logLimit = 64 << 20

// visited returns the commits at which HEAD was, one a line.
func (t *tree) visited(ctx context.Context) (string, error) {
	if t.head != "" {
		return t.git.run(ctx, "log", "--walk-reflogs", "--format=%H", "HEAD", "--")
	}
	// Git shows no log of a HEAD that has no commit, but there is one after
	// "git checkout --orphan".
	return loggedIn(filepath.Join(t.admin.dir, "logs", "HEAD"))
}

// loggedIn returns the commits in a log of git, one a line.
func loggedIn(path string) (string, error) {
	log, err := safefile.ReadForeign(path, logLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var b strings.Builder
	for line := range strings.Lines(string(log)) {
		before, rest, _ := strings.Cut(line, " ")
		after, _, _ := strings.Cut(rest, " ")
		for _, hash := range []string{before, after} {
			if hash != zeros(hash) {
				b.WriteString(hash + "\n")
			}
		}
	}
	return b.String(), err
}

// restore returns the command that restores the worktree: its files, its index with the
// staged changes, and HEAD. If the branch has not moved since then, it is checked out too.
func (t *tree) restore(ref string, c commit) string {
	base, path := word(t.ref.Base), word(t.ref.Path)
	steps := []string{
		fmt.Sprintf("git -C %s worktree add --detach --no-checkout %s %s", base, path, cmp.Or(t.head, ref)),
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
	case t.branch == "":
	case t.head == "":
		steps = append(steps, fmt.Sprintf("git -C %s symbolic-ref HEAD %s", path, word("refs/heads/"+t.branch)))
	case !c.conflicts:
		// Refused by git, and harmless, if the branch is in use elsewhere or has
		// other changes of the same files.
		steps = append(steps, fmt.Sprintf("git -C %s switch --quiet %s", path, word(t.branch)))
	}
	return strings.Join(steps, " && ")
}

// shell makes a command of words.
func shell(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = word(w)
	}
	return strings.Join(quoted, " ")
}

var plain = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// word makes one word of the shell of any text.
func word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	if !strings.ContainsFunc(s, safetext.IsHidden) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	// One line in any case; dash has no such quotes, the others do.
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}
