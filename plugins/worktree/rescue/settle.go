package rescue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/durable"
	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
)

// settle returns when all that stays of the worktree's work is on the disk, and can be read
// there: the rescues, and the commits of its branch. Git alone does not wait for the disk,
// and takes an object that an earlier power cut has emptied for one that is there.
func settle(ctx context.Context, t *inspect.Tree, r *Rescues) error {
	visited, err := visited(ctx, t)
	if err != nil {
		return err
	}
	stashed, err := repo.LoggedIn(filepath.Join(t.Repo.Common, "logs", "refs", "stash"))
	if err != nil {
		return err
	}
	tips := git.Unique(slices.Concat(r.hashes, strings.Fields(visited), strings.Fields(stashed), strings.Fields(t.Head)))
	// Older objects do not depend on the worktree.
	first := t.Admin.FirstHead()
	tips = slices.DeleteFunc(tips, func(tip string) bool { return tip == first })
	if len(tips) == 0 {
		return nil
	}
	in := strings.Join(tips, "\n") + "\n"
	if first != "" {
		in += "^" + first + "\n"
	}
	out, err := t.Repo.Git.Feed(ctx, strings.NewReader(in), "rev-list", "--ignore-missing", "--objects", "--missing=allow-promisor", "--stdin")
	if err != nil {
		return err
	}
	// The path at which each object was seen, empty for a commit.
	paths := make(map[string]string)
	for line := range strings.Lines(out) {
		hash, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		paths[hash] = path
	}
	names := slices.Sorted(maps.Keys(paths))
	// Git writes packs with a sum, and with fsync.
	loose, err := durable.Objects(t.Repo.Common, names)
	if err != nil {
		return err
	}
	if err := settleRefs(ctx, t, r, paths); err != nil {
		return err
	}
	return readBack(ctx, t.Repo.Git, loose, paths)
}

// settleRefs is settle for the references that lead to those objects.
func settleRefs(ctx context.Context, t *inspect.Tree, r *Rescues, objects map[string]string) error {
	refs := []string{"refs/stash"}
	for _, branch := range []string{t.Branch, t.Ref.Branch} {
		if branch != "" {
			refs = append(refs, "refs/heads/"+branch)
		}
	}
	for _, rescue := range r.List {
		refs = append(refs, rescue.Ref)
	}
	out, err := t.Repo.Git.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if _, there := objects[hash]; there {
			refs = append(refs, name)
		}
	}
	return durable.Refs(t.Repo.Common, git.Unique(refs)...)
}

// readBack reads objects and compares them with their names. The error names the file that an
// object belongs to.
func readBack(ctx context.Context, g git.Git, names []string, paths map[string]string) error {
	if len(names) == 0 {
		return nil
	}
	return g.Read(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), func(r io.Reader) error {
		out := bufio.NewReader(r)
		for _, name := range names {
			err := readObject(out)
			if err != nil && paths[name] != "" {
				return fmt.Errorf("cannot read the saved %s: %w", git.Quote(paths[name]), err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, "cat-file", "--batch", "--buffer")
}

// readObject reads an object that git cat-file --batch writes.
func readObject(r *bufio.Reader) error {
	head, err := r.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return errors.New("git cat-file ends too early")
	}
	if err != nil {
		return fmt.Errorf("git cat-file ends too early: %w", err)
	}
	words := strings.Fields(head)
	if len(words) != 3 {
		return fmt.Errorf("git cat-file: %s", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return err
	}
	sum := objectHash(words[0], words[1], size)
	if _, err := io.CopyN(sum, r, size); err != nil {
		return err
	}
	if fmt.Sprintf("%x", sum.Sum(nil)) != words[0] {
		return fmt.Errorf("object %s is damaged", words[0])
	}
	_, err = r.Discard(1)
	return err
}
