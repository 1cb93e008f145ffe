package spawn

import (
	"path/filepath"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// hold notes to which directories the paths of a worker in a sandbox lead at its first start.
// Later starts use these and follow no symbolic links: another worker in a sandbox may have put
// some on the way. A path that does not exist is left to the backend, which reports it.
func (p *plan) hold() {
	rec := &p.rec
	if rec.Sandbox == nil || !p.owner.Local {
		return
	}
	held := make(map[string]string, len(rec.Real)+2)
	for _, path := range sandboxPaths(rec) {
		real, known := rec.Real[path]
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
		held[path] = real
	}
	rec.Real = held
}

// sandboxPaths returns the paths on this machine that a sandbox mounts.
func sandboxPaths(rec *registry.Record) []string {
	paths := []string{rec.Dir}
	if rec.Workspace != nil {
		paths = append(paths, rec.Workspace.Path)
	}
	switch home := rec.Sandbox.Home; home {
	case swarm.HomeEmpty, swarm.HomeReadOnly:
	default:
		paths = append(paths, home)
	}
	return append(paths, rec.Sandbox.Write...)
}

// real returns the directory that a path of the worker leads to.
func (p *plan) real(path string) string {
	if real, ok := p.rec.Real[path]; ok {
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
