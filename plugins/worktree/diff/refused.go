package diff

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/safefile"
)

// comparePrefix begins the names of directories with objects for one comparison, in the
// common git directory. They are not in the repository: git's own check would warn of them.
const comparePrefix = "swarm-diff-"

// compareAge is how old such a directory is before it is removed. A pager may still show the
// comparison.
const compareAge = 6 * time.Hour

// withRefused returns a tree that has, on top of those of another tree, the files that git
// refuses to take into an index, such as .GIT/notes. From then on all calls of git read such
// objects too.
func withRefused(ctx context.Context, t *inspect.Tree, tree string, saved []string) (string, error) {
	held, err := t.Git.LsTree(ctx, tree)
	if err != nil {
		return "", err
	}
	// Git reads most files by their names, a line each. It gets the contents of the others.
	var files, single []string
	for _, path := range saved {
		if _, ok := held[path]; ok {
			continue
		}
		info, err := os.Lstat(filepath.Join(t.Ref.Path, path))
		switch {
		case err != nil: // the worker removes it
		case info.Mode()&fs.ModeSymlink != 0:
			single = append(single, path)
		case info.Mode().IsRegular() && strings.Contains(path, "\n"):
			single = append(single, path)
		case info.Mode().IsRegular():
			files = append(files, path)
		}
	}
	if len(files)+len(single) == 0 {
		return tree, nil
	}
	dropComparisons(t.Repo)
	scratch, err := os.MkdirTemp(t.Repo.Common, comparePrefix)
	if err != nil {
		return "", err
	}
	objects := []string{"GIT_OBJECT_DIRECTORY=" + scratch, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + listWord(filepath.Join(t.Repo.Common, "objects"))}
	t.Git, t.Repo.Git = t.Git.With(objects...), t.Repo.Git.With(objects...)
	root := &node{hash: tree}
	if len(files) > 0 {
		out, err := t.Git.Feed(ctx, strings.NewReader(stdinPaths(files)), "hash-object", "-w", "--no-filters", "--stdin-paths")
		if err != nil {
			return "", err
		}
		for i, hash := range strings.Fields(out) {
			root.add(files[i], hash)
		}
	}
	for _, path := range single {
		hash, err := writeBlob(ctx, t, path)
		if err != nil {
			return "", err
		}
		root.add(path, hash)
	}
	return root.write(ctx, t.Git)
}

// writeBlob makes a blob of a file or of the target of a link.
func writeBlob(ctx context.Context, t *inspect.Tree, path string) (string, error) {
	var content io.Reader
	full := filepath.Join(t.Ref.Path, path)
	if target, err := os.Readlink(full); err == nil {
		content = strings.NewReader(target)
	} else {
		f, err := safefile.OpenForeign(full, 0)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		content = f
	}
	hash, err := t.Git.Feed(ctx, content, "hash-object", "-w", "--no-filters", "--stdin")
	return strings.TrimSpace(hash), err
}

// dropComparisons removes the objects of comparisons that were shown long ago. An error leaves
// them for the next one.
func dropComparisons(r *repo.Repo) {
	entries, err := os.ReadDir(r.Common)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && strings.HasPrefix(e.Name(), comparePrefix) && time.Since(info.ModTime()) > compareAge {
			_ = os.RemoveAll(filepath.Join(r.Common, e.Name()))
		}
	}
}

// listWord makes one entry of a list of paths of git.
func listWord(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// stdinPaths lists paths for git, which takes one that begins with a quote for a quoted one.
func stdinPaths(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		b.WriteString("./" + path + "\n")
	}
	return b.String()
}

// node is a tree to which files are added, or such a file.
type node struct {
	// hash is that of the tree, empty for a new one, or of the file.
	hash string
	// file says that it is a file.
	file bool
	sub  map[string]*node
}

func (n *node) add(path, hash string) {
	name, rest, deeper := strings.Cut(path, "/")
	if n.sub == nil {
		n.sub = make(map[string]*node)
	}
	if !deeper {
		n.sub[name] = &node{hash: hash, file: true}
		return
	}
	if n.sub[name] == nil {
		n.sub[name] = &node{}
	}
	n.sub[name].add(rest, hash)
}

// write makes the tree. A link becomes a file: git's own check of a repository refuses trees
// with links of some names.
func (n *node) write(ctx context.Context, g git.Git) (string, error) {
	var entries []string
	if n.hash != "" {
		old, err := g.List(ctx, "ls-tree", "-z", n.hash)
		if err != nil {
			return "", err
		}
		for _, entry := range old {
			what, name, _ := strings.Cut(entry, "\t")
			sub := n.sub[name]
			if sub == nil {
				entries = append(entries, entry)
			} else if words := strings.Fields(what); !sub.file && len(words) == 3 && words[1] == "tree" {
				sub.hash = words[2]
			}
		}
	}
	for name, sub := range n.sub {
		if sub.file {
			entries = append(entries, "100644 blob "+sub.hash+"\t"+name)
			continue
		}
		hash, err := sub.write(ctx, g)
		if err != nil {
			return "", err
		}
		entries = append(entries, "040000 tree "+hash+"\t"+name)
	}
	hash, err := g.Feed(ctx, git.Input(entries), "mktree", "-z")
	return strings.TrimSpace(hash), err
}
