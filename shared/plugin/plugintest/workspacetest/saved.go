package workspacetest

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

func savedCases() []testCase {
	return []testCase{
		{
			name: "rescue", needs: swarm.CapRescue,
			rule: "Rescue lists, restores and drops what Remove saved, without the workspace and by a new process",
			run: func(k *kit) {
				ref, saved := k.saved()
				k.Workspace = k.open(k.T).Workspace
				list := k.rescue(swarm.RescueRequest{Base: ref.Base})
				at := slices.IndexFunc(list, func(w swarm.SavedWork) bool { return w.Ref == saved })
				if at < 0 || list[at].Name != ref.Name || list[at].Base != ref.Base || list[at].Path != "" {
					k.broken("'%s' of '%s' is not in the list %+v", saved, ref.Name, list)
				}
				if works := k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved}); len(works) != 1 || len(works[0].Files) == 0 {
					k.broken("named alone it is %+v, want its files", works)
				}
				into := ref
				into.Path = filepath.Join(k.TempDir(), "restored")
				works := k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: swarm.RescueRestore, Into: into.Path})
				if len(works) != 1 || works[0].Path == "" {
					k.broken("restored it is %+v", works)
				}
				k.wantWork(into)
				if works := k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: swarm.RescueDrop}); len(works) != 1 {
					k.broken("dropped it is %+v", works)
				}
				if _, err := k.act(swarm.RescueRequest{Base: ref.Base, Ref: saved}); !errors.Is(err, swarm.ErrNotFound) {
					k.broken("after the drop: want ErrNotFound, got %v", err)
				}
			},
		},
		{
			name: "rescue-overwrites-nothing", needs: swarm.CapRescue,
			rule: "a restore into a directory that is not empty is ErrInvalidSpec and changes nothing",
			run: func(k *kit) {
				ref, saved := k.saved()
				taken := ref
				taken.Path = k.TempDir()
				k.write(taken)
				_, err := k.act(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: swarm.RescueRestore, Into: taken.Path})
				if !errors.Is(err, swarm.ErrInvalidSpec) {
					k.broken("want ErrInvalidSpec, got %v", err)
				}
				k.wantWork(taken)
			},
		},
		{
			name: "rescue-of-an-unknown-action", needs: swarm.CapRescue,
			rule: "an action that the plugin does not know is ErrUnsupported, and the saved work stays",
			run: func(k *kit) {
				ref, saved := k.saved()
				if _, err := k.act(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: "plugintest"}); !errors.Is(err, swarm.ErrUnsupported) {
					k.broken("want ErrUnsupported, got %v", err)
				}
				k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved})
			},
		},
		{
			name: "diff", needs: swarm.CapDiff,
			rule: "Diff names new files too and returns a command; of a workspace that is gone it is ErrNotFound",
			run: func(k *kit) {
				ref := k.create(k.newSpec())
				differ := k.Workspace.(swarm.Differ)
				if d, err := differ.Diff(k.ctx, ref, swarm.DiffOptions{}); err != nil || len(d.Files) != 0 {
					k.broken("before any work: %+v, %v", d.Files, err)
				}
				k.write(ref)
				d, err := differ.Diff(k.ctx, ref, swarm.DiffOptions{})
				if want := (swarm.FileChange{Path: workFile, Added: 1}); err != nil || !slices.Contains(d.Files, want) || len(d.Command) == 0 {
					k.broken("want %+v and a command, got %+v, %v", want, d, err)
				}
				k.wantWork(ref)
				k.remove(ref, swarm.RemoveOptions{Force: true})
				if _, err := differ.Diff(k.ctx, ref, swarm.DiffOptions{}); !errors.Is(err, swarm.ErrNotFound) {
					k.broken("after the removal: want ErrNotFound, got %v", err)
				}
			},
		},
	}
}

// saved returns a workspace that was removed with work in it, and the name of that work.
func (k *kit) saved() (ref swarm.WorkspaceRef, saved string) {
	k.Helper()
	ref = k.create(k.newSpec())
	k.write(ref)
	r := k.remove(ref, swarm.RemoveOptions{Force: true})
	if len(r.Rescues) == 0 {
		k.fatal("a forced Remove saved nothing: %+v", r)
	}
	return ref, r.Rescues[0].Ref
}

func (k *kit) act(req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	return k.Workspace.(swarm.Rescuer).Rescue(k.ctx, req)
}

func (k *kit) rescue(req swarm.RescueRequest) []swarm.SavedWork {
	k.Helper()
	works, err := k.act(req)
	if err != nil {
		k.fatal("Rescue of %+v: %v", req, err)
	}
	return works
}
