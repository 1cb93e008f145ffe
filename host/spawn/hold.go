package spawn

import (
	"path/filepath"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// hold notes to which directories the paths of a worker lead at its first start: all paths of its
// sandbox, and else its workspace. Later starts of a sandbox use these and follow no symbolic
// links: another worker in a sandbox may have put some on the way. For other workers,
// [plan.exchanged] compares. A path that does not exist is left to the backend, which reports it.
func (p *plan) hold() {
	rec := &p.rec
	if !p.owner.Local {
		return
	}
	var held []registry.RealPath
	for _, path := range heldPaths(rec) {
		real, known := rec.RealOf(path)
		switch {
		case path == "" || !filepath.IsAbs(path):
			continue
		case known:
		case p.req.DirIsReal && path == rec.Dir:
			real = filepath.Clean(path)
		default:
			var err error
			if real, err = filepath.EvalSymlinks(path); err != nil {
				continue
			}
		}
		held = append(held, registry.RealPath{Path: path, Real: real})
	}
	rec.Real = held
}

// exchanged returns an error if the workspace of a worker without a sandbox is another directory
// than at its first start, over symbolic links that were put there since. A backend may mount it,
// as that of containers does, by its path.
func (p *plan) exchanged() error {
	if p.rec.Sandbox != nil || !p.owner.Local || p.rec.Workspace == nil {
		return nil
	}
	path := p.rec.Workspace.Path
	before, known := p.rec.RealOf(path)
	now, err := filepath.EvalSymlinks(path)
	if !known || err != nil || now == before {
		return nil //nolint:nilerr // a missing directory is reported by those who need it
	}
	return worker.Invalid("the workspace of '%s', %s, was %s when it was first started, and a symbolic link leads to %s now: put it back, or spawn the worker anew",
		p.rec.Name, path, before, now)
}

// heldPaths returns the paths on this machine that a worker's sandbox mounts, or, without one,
// that its backend may mount: the workspace.
func heldPaths(rec *registry.Record) []string {
	var paths []string
	if rec.Workspace != nil {
		paths = append(paths, rec.Workspace.Path)
	}
	if rec.Sandbox == nil {
		return paths
	}
	paths = append(paths, rec.Dir)
	switch home := rec.Sandbox.Home; home {
	case swarm.HomeEmpty, swarm.HomeReadOnly:
	default:
		paths = append(paths, home)
	}
	return append(paths, rec.Sandbox.Write...)
}

// real returns the directory that a path of a worker in a sandbox leads to, and the other paths
// unchanged.
func (p *plan) real(path string) string {
	if real, ok := p.rec.RealOf(path); ok && p.rec.Sandbox != nil {
		return real
	}
	return path
}

// sandbox returns what the backend is sent of the worker's sandbox.
func (p *plan) sandbox() *swarm.Sandbox {
	s := p.rec.Sandbox.Clone()
	if s == nil {
		return nil
	}
	s.Home = p.real(s.Home)
	for i, path := range s.Write {
		s.Write[i] = p.real(path)
	}
	return s
}
