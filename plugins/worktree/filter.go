package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/trust"
)

// guarded returns g for a repository. If others can write the repository's
// configuration or what is above it, the programs that are named there do not run:
// filters are off, and nothing is fetched. Those that the user's own configuration
// names do run.
func (g git) guarded(ctx context.Context, gitDir, common string) (git, bool, error) {
	err := ownerRule(gitDir, common)
	if _, broken := errors.AsType[*trust.Error](err); !broken {
		return g, false, err
	}
	g, err = g.disarmed(ctx)
	return g, true, err
}

// disarmed returns g with the filters that the repository's own configuration names turned
// off. Nothing is fetched.
func (g git) disarmed(ctx context.Context) (git, error) {
	g = g.with("GIT_ALLOW_PROTOCOL=none")
	// The scope of each key, then the key: "local" or "worktree" is the repository's.
	words, err := g.list(ctx, "config", "--show-scope", "--list", "--name-only", "-z")
	if err != nil {
		return g, err
	}
	names := make(map[string]bool)
	for ; len(words) > 1; words = words[2:] {
		rest, ok := strings.CutPrefix(words[1], "filter.")
		if dot := strings.LastIndexByte(rest, '.'); ok && dot >= 0 && (words[0] == "local" || words[0] == "worktree") {
			names[rest[:dot]] = true
		}
	}
	n := 0
	set := func(key, value string) {
		g = g.with(fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	for name := range names {
		set("filter."+name+".clean", "")
		set("filter."+name+".smudge", "")
		set("filter."+name+".process", "")
		set("filter."+name+".required", "false")
	}
	return g.with(fmt.Sprintf("GIT_CONFIG_COUNT=%d", n)), nil
}

// ownerRule returns a [*trust.Error] if the configuration of a repository is not the
// user's alone.
func ownerRule(gitDir, common string) error {
	for _, path := range []string{
		common, gitDir, filepath.Join(common, "config"), filepath.Join(common, "config.worktree"), filepath.Join(gitDir, "config.worktree"),
	} {
		if err := trust.Path(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
