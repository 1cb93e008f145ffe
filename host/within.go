package host

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// dirIn returns the directory that a worker with a workspace runs in.
func dirIn(ask *registry.WorkspaceAsk, ws *swarm.WorkspaceRef) string {
	if ask == nil || !ask.Within || !filepath.IsLocal(ws.Dir) {
		return ws.Path
	}
	return filepath.Join(ws.Path, ws.Dir)
}

// checkWithin refuses a directory that is not in the workspace which was just made:
// what is checked out there may be a link to elsewhere.
func checkWithin(workspace, dir string) error {
	if dir == workspace {
		return nil
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	top, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if real != top && !strings.HasPrefix(real, top+"/") {
		return worker.Invalid(fmt.Sprintf("%s escapes the workspace, to %s", dir, real))
	}
	return nil
}
