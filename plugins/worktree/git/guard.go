package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/trust"
)

// Within returns g for the working tree top of a repository that was examined. Git does not
// look for the repository itself: the .git in the working tree may be another one by then.
// Git does not examine the owner either, see Owned.
func (g Git) Within(top, gitDir, common string) Git {
	return g.At(top).With("GIT_DIR="+gitDir, "GIT_COMMON_DIR="+common, "GIT_WORK_TREE="+top)
}

// Owned returns an error if a working tree, its .git or its git directory belongs to another
// user, unless safe.directory allows that. It is the rule of git, which has no question for
// it; g runs elsewhere.
func (g Git) Owned(ctx context.Context, top, gitDir string) error {
	foreign := ""
	for _, path := range []string{filepath.Join(top, ".git"), top, gitDir} {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || !ownUser(st.Uid) {
			foreign = path
			break
		}
	}
	if foreign == "" {
		return nil
	}
	words, err := g.List(ctx, "config", "-z", "--show-scope", "--type=path", "--get-all", "safe.directory")
	if _, none := errors.AsType[*Error](err); err != nil && !none {
		return err
	}
	safe := false
	for ; len(words) > 1; words = words[2:] {
		if words[0] == "local" || words[0] == "worktree" {
			continue // the repository's own word
		}
		switch prefix, below := strings.CutSuffix(words[1], "/*"); {
		case words[1] == "":
			safe = false
		case words[1] == "*" || words[1] == top || below && strings.HasPrefix(top, prefix+"/"):
			safe = true
		}
	}
	if safe {
		return nil
	}
	return fmt.Errorf("detected dubious ownership: %s belongs to another user; to allow it, call: git config --global --add safe.directory %s", foreign, Word(top))
}

// ownUser reports whether git takes a user for its own: with sudo that is also the caller.
func ownUser(uid uint32) bool {
	self := os.Geteuid()
	if self == 0 && uid != 0 {
		caller, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32)
		return err == nil && uint64(uid) == caller
	}
	return uint64(uid) == uint64(self)
}

// Isolated calls use with a git for a repository whose configuration a worker can write at any
// time. Git reads a configuration that has a few harmless settings of it, and no filter runs,
// whatever attributes and names there are.
func (g Git) Isolated(ctx context.Context, l gitdir.Layout, use func(Git) error) (err error) {
	dir, err := os.MkdirTemp("", "swarm-git-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	settings, err := g.List(ctx, "config", "-z", "--list", "--no-includes", "--file", filepath.Join(l.Common, "config"))
	if err != nil {
		return err
	}
	var config strings.Builder
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "\n")
		if section, name, ok := strings.Cut(key, "."); ok && slices.Contains(harmless, key) && plainValue.MatchString(value) {
			fmt.Fprintf(&config, "[%s]\n\t%s = %s\n", section, name, value)
		}
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "config"), []byte(config.String()), 0o600),
		os.Mkdir(filepath.Join(dir, "info"), 0o700),
		os.WriteFile(filepath.Join(dir, "info", "attributes"), []byte("* -filter\n"), 0o600),
		os.Symlink(filepath.Join(l.Common, "info", "exclude"), filepath.Join(dir, "info", "exclude")),
	); err != nil {
		return err
	}
	for _, name := range []string{"objects", "refs", "logs", "packed-refs", "reftable", "shallow", "worktrees"} {
		if err := os.Symlink(filepath.Join(l.Common, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return use(g.Within(l.Top, l.GitDir, dir).With("GIT_ALLOW_PROTOCOL=none"))
}

// harmless are settings that say how files are stored.
var harmless = []string{
	"core.repositoryformatversion", "core.filemode", "core.symlinks", "core.precomposeunicode", "core.autocrlf", "core.eol",
	"core.sparsecheckout", "core.sparsecheckoutcone", "extensions.objectformat", "extensions.refstorage",
}

var plainValue = regexp.MustCompile(`^[a-z0-9]+$`)

// Guarded returns g for a repository. If others can write the repository's
// configuration or what is above it, the programs that are named there do not run:
// filters are off, and nothing is fetched. Those that the user's own configuration
// names do run.
func (g Git) Guarded(ctx context.Context, gitDir, common string) (Git, bool, error) {
	err := ownerRule(gitDir, common)
	if _, broken := errors.AsType[*trust.Error](err); !broken {
		return g, false, err
	}
	g, err = g.Disarmed(ctx)
	return g, true, err
}

// Disarmed returns g with the filters that the repository's own configuration names turned
// off. Nothing is fetched.
func (g Git) Disarmed(ctx context.Context) (Git, error) {
	g = g.With("GIT_ALLOW_PROTOCOL=none")
	// The scope of each key, then the key: "local" or "worktree" is the repository's.
	words, err := g.List(ctx, "config", "--show-scope", "--list", "--name-only", "-z")
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
		g = g.With(fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	for name := range names {
		set("filter."+name+".clean", "")
		set("filter."+name+".smudge", "")
		set("filter."+name+".process", "")
		set("filter."+name+".required", "false")
	}
	return g.With(fmt.Sprintf("GIT_CONFIG_COUNT=%d", n)), nil
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
