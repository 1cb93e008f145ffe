package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

const removeLimit = 5 * time.Minute

// WorkspaceEntry returns how to start the plugin that makes the workspace of a record: the
// backend of a worker on another machine, or a workspace plugin.
func (ps *Plugins) WorkspaceEntry(rec *registry.Record) (catalog.Entry, error) {
	switch {
	case rec.Ask != nil && rec.Ask.Away, rec.Workspace != nil && rec.Workspace.Host != "":
		return ps.Entry(rec.Backend, rec.Plugin)
	case rec.Ask == nil:
		return ps.MakerOf("", nil)
	}
	return ps.MakerOf(rec.Ask.Plugin, rec.Ask.Config)
}

// MakerOf returns how to start a plugin that makes workspaces; with an empty name the default one.
func (ps *Plugins) MakerOf(name string, config *registry.Plugin) (catalog.Entry, error) {
	if name == "" {
		return ps.opts.Catalog.Find(ps.opts.DefaultWorkspace)
	}
	return ps.Entry(name, config)
}

// RemoveWorkspace removes the workspace of a worker that has ended, or says why it
// stays.
func (ps *Plugins) RemoveWorkspace(ctx context.Context, rec *registry.Record, force bool) (res swarm.RemoveResult, err error) {
	err = ps.askMaker(ctx, rec, func(ctx context.Context, p *Peer) (err error) {
		res, err = p.Workspace.Remove(ctx, *rec.Workspace, swarm.RemoveOptions{Force: force})
		ps.noteRescues(p, rec, res.Rescues)
		return err
	})
	return res, err
}

// RemovalCut reports whether the removal of a worker's workspace was interrupted after its
// directory had gone. It is always false for a workspace on another machine.
func RemovalCut(rec *registry.Record) bool {
	if !rec.Removing || rec.Workspace == nil || rec.Workspace.Host != "" {
		return false
	}
	_, err := os.Lstat(rec.Workspace.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// noteRescues remembers where work was saved, for those who look for it later. A plugin
// that can restore it is asked to by a verb.
func (ps *Plugins) noteRescues(p *Peer, rec *registry.Record, rescues []swarm.Rescue) {
	if len(rescues) == 0 {
		return
	}
	warn.If(ps.opts.Logger, ps.opts.Dir.NoteRescueBase(RepositoryOf(rec)), "the base of saved work can't be noted", "worker", rec.Name)
	if !p.Has(swarm.CapRescue) {
		return
	}
	for i := range rescues {
		which := rec.Name
		if i > 0 {
			which = RescueID(rescues[i].Ref)
		}
		rescues[i].Command = "swarm rescue restore " + which
	}
}

// RepositoryOf returns what the workspace of a record is made of, with the plugin that makes it.
func RepositoryOf(rec *registry.Record) statedir.Repository {
	r := statedir.Repository{Base: rec.Workspace.Base, Host: rec.Workspace.Host}
	switch {
	case r.Host != "":
		r.Plugin = rec.Backend
	case rec.Ask != nil:
		r.Plugin = rec.Ask.Plugin
	}
	return r
}

// RescueID returns a short name of saved work: the last two parts of its ref, such as a
// worker's name and the time.
func RescueID(ref string) string {
	parts := strings.Split(ref, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// FindWorkspace asks for the workspace that was made from spec; nil if there is
// none.
func (ps *Plugins) FindWorkspace(ctx context.Context, e catalog.Entry, spec swarm.WorkspaceSpec) (*swarm.WorkspaceRef, error) {
	var found *swarm.WorkspaceRef
	err := ps.AskWorkspace(ctx, e, true, func(p *Peer) error {
		if !p.Has(swarm.CapFindWorkspace) {
			return nil
		}
		ref, err := p.Workspace.FindWorkspace(ctx, spec)
		if err == nil {
			found = &ref
		}
		return err
	})
	if errors.Is(err, swarm.ErrNotFound) {
		return nil, nil
	}
	return found, err
}

// WorkspaceSpec returns what a record asks of its workspace.
func WorkspaceSpec(rec *registry.Record) swarm.WorkspaceSpec {
	spec := swarm.WorkspaceSpec{ID: rec.ID, Name: rec.Name, Base: rec.Ask.Base, Branch: rec.Ask.Branch, Parent: rec.Ask.Parent}
	spec.Options = rec.Ask.Options
	if rec.Ask.Away {
		spec.Options = rec.Options // they say on which machine
	}
	return spec
}

// UndoWorkspace removes a workspace that was just made, with what was made for it.
func (ps *Plugins) UndoWorkspace(ctx context.Context, e catalog.Entry, ref swarm.WorkspaceRef) error {
	return ps.AskWorkspace(ctx, e, true, func(maker *Peer) error {
		res, err := maker.Workspace.Remove(ctx, ref, swarm.RemoveOptions{Undo: true})
		if err == nil && res.Kept != nil {
			err = fmt.Errorf("%s was kept: %s", ref.Location(), res.Kept.Reason)
		}
		return err
	})
}

// InspectWorkspace returns how the workspace of a worker is.
func (ps *Plugins) InspectWorkspace(ctx context.Context, rec *registry.Record, o swarm.RemoveOptions) (state swarm.WorkspaceState, err error) {
	err = ps.askMaker(ctx, rec, func(ctx context.Context, p *Peer) (err error) {
		state, err = p.Workspace.Inspect(ctx, *rec.Workspace, o)
		return err
	})
	return state, err
}

// DirIn returns the directory that a worker with a workspace runs in.
func DirIn(ask *registry.WorkspaceAsk, ws *swarm.WorkspaceRef) string {
	if ask == nil || !ask.Within || !filepath.IsLocal(ws.Dir) {
		return ws.Path
	}
	return filepath.Join(ws.Path, ws.Dir)
}

// IsMissing reports whether a workspace is gone. One on another machine can't be seen from here.
func IsMissing(ws *swarm.WorkspaceRef) bool { return ws.Host == "" && IsGone(ws.Path) }

// IsGone reports whether nothing is at a path of this machine any more.
func IsGone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
