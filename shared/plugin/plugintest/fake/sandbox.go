package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// canEnclose refuses what no sandbox can be made of.
func canEnclose(box *swarm.Sandbox) error {
	if box == nil {
		return nil
	}
	if err := box.Check(); err != nil {
		return err
	}
	paths := box.Write
	if filepath.IsAbs(box.Home) {
		paths = append([]string{box.Home}, paths...)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: %s does not exist", swarm.ErrInvalidSpec, path)
		}
	}
	return nil
}

// touch makes a file unless it exists, and returns what came of that. In a sandbox all files
// are values in memory, but for those that it can write.
func (w *worker) touch(path string) string {
	if box := w.spec.Sandbox; box != nil && !writes(box, path) {
		if filepath.Dir(path) == "/tmp" {
			return "written"
		}
		return "refused"
	}
	if _, err := os.Lstat(path); err == nil {
		return "seen"
	}
	if os.WriteFile(path, nil, 0o600) != nil {
		return "refused"
	}
	return "written"
}

func writes(box *swarm.Sandbox, path string) bool {
	return slices.ContainsFunc(box.Write, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
}

// reach returns whether the services of the machine can be reached.
func (w *worker) reach() string {
	if box := w.spec.Sandbox; box != nil && box.Network == swarm.NetworkNone {
		return "alone"
	}
	return "reached"
}
