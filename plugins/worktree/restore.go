package worktree

import (
	"fmt"
	"regexp"
	"strings"
)

// restore returns the command that restores the worktree: its files, its index with the
// staged changes, and HEAD. If the branch has not moved since then, it is checked out too.
func (t *tree) restore(ref string, c commit) string {
	base, path := word(t.ref.Base), word(t.ref.Path)
	start := ref
	if t.head != "" {
		start = t.head
	}
	steps := []string{
		fmt.Sprintf("git -C %s worktree add --detach --no-checkout %s %s", base, path, start),
		fmt.Sprintf("git -C %s read-tree --reset -u %s", path, ref),
	}
	if c.archived {
		steps = append(steps, fmt.Sprintf("git -C %s cat-file blob %s^%d:files.tar | tar -xf - -C %s", path, ref, c.exact, path))
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

// word quotes what needs it.
func word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return shellQuote(s)
}
