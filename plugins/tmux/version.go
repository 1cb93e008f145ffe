package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// oldest is the first major version of tmux that can set up windows in the required way.
const oldest = 3

// Check reports whether a tmux that is new enough is installed.
func (b *Backend) Check(ctx context.Context) error {
	version, err := b.Report(ctx)
	if err != nil {
		return err
	}
	return newEnough(strings.TrimPrefix(version, "tmux "))
}

// Report returns the version of tmux, such as "tmux 3.3a".
func (b *Backend) Report(ctx context.Context) (string, error) {
	out, err := server{}.run(ctx, []string{"-V"})
	if err != nil {
		return "", unavailable(err)
	}
	return strings.TrimSpace(out), nil
}

// newEnough reads a version such as "3.3a", "next-3.4" or "openbsd-7.4", which
// has no version of its own and is always new.
func newEnough(version string) error {
	if strings.HasPrefix(version, "openbsd") || version == "master" {
		return nil
	}
	digits := strings.TrimPrefix(version, "next-")
	major, _, _ := strings.Cut(digits, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n < oldest {
		return fmt.Errorf("%w: tmux %s is too old: %d.0 or newer is needed", swarm.ErrUnavailable, version, oldest)
	}
	return nil
}

// unavailable is for where a refusal of tmux means that it can't be used at all.
func unavailable(err error) error {
	if f, ok := err.(failure); ok { //nolint:errorlint // run wraps no failure
		return fmt.Errorf("%w: %w", swarm.ErrUnavailable, f)
	}
	return err
}
