package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Version is the plugin's version.
const Version = "0.1.0"

// Config is the plugin's table in the user's configuration.
type Config struct {
	// Git is the git program. Empty: git in PATH.
	Git string `json:"git"`
}

// Workspace makes and removes worktrees. It holds no state.
type Workspace struct {
	git git
	log hclog.Logger
	// lockLimit is shorter in tests.
	lockLimit time.Duration
	// beforeRemoval is called between the inspection and the last look, by tests.
	beforeRemoval func()
}

var (
	_ swarm.Workspace       = (*Workspace)(nil)
	_ swarm.WorkspaceFinder = (*Workspace)(nil)
	_ swarm.Checker         = (*Workspace)(nil)
	_ swarm.Reporter        = (*Workspace)(nil)
)

// New returns a workspace plugin.
func New(cfg Config, log hclog.Logger) *Workspace {
	bin := cfg.Git
	if bin == "" {
		bin = "git"
	}
	return &Workspace{git: git{bin: bin}, log: log, lockLimit: lockLimit}
}

// The oldest git that lists worktrees with -z.
const oldestMajor, oldestMinor = 2, 36

// Check implements [swarm.Checker].
func (w *Workspace) Check(ctx context.Context) error {
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if errA != nil || errB != nil || a < oldestMajor || a == oldestMajor && b < oldestMinor {
		return fmt.Errorf("%w: git %s is too old, %d.%d or newer is needed", swarm.ErrUnavailable, version, oldestMajor, oldestMinor)
	}
	return nil
}

// Report implements [swarm.Reporter].
func (w *Workspace) Report(ctx context.Context) (string, error) {
	version, err := w.version(ctx)
	return "git " + version, err
}

func (w *Workspace) version(ctx context.Context) (string, error) {
	out, err := w.git.at("/").run(ctx, "version")
	if err != nil && !errors.Is(err, swarm.ErrUnavailable) {
		err = fmt.Errorf("%w: git does not run: %w", swarm.ErrUnavailable, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(out), "git version "), err
}
