package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/trust"
)

// ErrRefused is in every error about a state directory that swarm does not use.
var ErrRefused = errors.New("state directory refused")

// RefusedError holds the reason why swarm refuses a state directory. It is an [ErrRefused].
type RefusedError struct {
	Dir, Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the state directory %s is not used: %s", e.Dir, e.Reason)
}

// Is reports whether target is [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Check reports whether a state directory can be believed: what is in it
// names programs to run and processes to signal. It returns an [*RefusedError] if
// the path is relative or breaks the owner rule, and nil if nothing is there yet but
// the directories above obey the rule.
func Check(dir string) error {
	if !filepath.IsAbs(dir) {
		return &RefusedError{Dir: dir, Reason: "it is a relative path"}
	}
	err := trust.Dir(dir)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	broken, ok := trust.As(err)
	if !ok {
		return fmt.Errorf("the state directory %s can't be examined: %w", dir, err)
	}
	info, err := os.Lstat(broken.At)
	if err == nil && !trust.Owned(info) {
		return &RefusedError{Dir: dir, Reason: fmt.Sprintf("%s %s; set HOME or SWARM_DIR to a directory of your own", broken.At, broken.Reason)}
	}
	return &RefusedError{Dir: dir, Reason: fmt.Sprintf("%s %s; run 'chmod go-w %s', or set SWARM_DIR to a directory that only you can write", broken.At, broken.Reason, broken.At)}
}
