package workspacetest

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

func savedCases() []testCase {
	return []testCase{
		newCase("rescue", swarm.CapRescue,
			"Rescue lists, restores and drops saved work without the workspace, in a new process of the plugin",
			func(k *kit) {
				ref, saved := k.saved()
				k.Workspace = k.open(k.T).Workspace
				list := k.rescue(swarm.RescueRequest{Base: ref.Base})
				at := slices.IndexFunc(list, func(w swarm.SavedWork) bool { return w.Ref == saved })
				if at < 0 || list[at].Name != ref.Name || list[at].Base != ref.Base || list[at].Path != "" {
					k.Broken("'%s' of '%s' is not in the list %+v", saved, ref.Name, list)
				}
				if works := k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved}); len(works) != 1 || len(works[0].Files) == 0 {
					k.Broken("for one Ref, Rescue returned %+v; want its files", works)
				}
				into := ref
				into.Path = filepath.Join(k.TempDir(), "restored")
				works := k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: swarm.RescueRestore, Into: into.Path})
				if len(works) != 1 || works[0].Path == "" {
					k.Broken("after the restore, Rescue returned %+v", works)
				}
				k.wantWork(into)
				if works := k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: swarm.RescueDrop}); len(works) != 1 {
					k.Broken("after the drop, Rescue returned %+v", works)
				}
				_, err := k.act(swarm.RescueRequest{Base: ref.Base, Ref: saved})
				k.WantErr("Rescue after the drop", err, swarm.ErrNotFound)
			}),
		newCase("rescue-overwrites-nothing", swarm.CapRescue,
			"a restore into a directory that is not empty is ErrInvalidSpec and changes nothing",
			func(k *kit) {
				ref, saved := k.saved()
				taken := ref
				taken.Path = k.TempDir()
				k.write(taken)
				_, err := k.act(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: swarm.RescueRestore, Into: taken.Path})
				k.WantErr("Rescue", err, swarm.ErrInvalidSpec)
				k.wantWork(taken)
			}),
		newCase("rescue-of-an-unknown-action", swarm.CapRescue,
			"an action that the plugin does not know is ErrUnsupported, and the saved work stays",
			func(k *kit) {
				ref, saved := k.saved()
				_, err := k.act(swarm.RescueRequest{Base: ref.Base, Ref: saved, Action: "plugintest"})
				k.WantErr("Rescue", err, swarm.ErrUnsupported)
				k.rescue(swarm.RescueRequest{Base: ref.Base, Ref: saved})
			}),
		newCase("diff", swarm.CapDiff,
			"Diff includes new files and returns a command; for a workspace that does not exist it is ErrNotFound",
			func(k *kit) {
				ref := k.create(k.newSpec())
				differ := k.Workspace.(swarm.Differ)
				if d, err := differ.Diff(k.Ctx, ref, swarm.DiffOptions{}); err != nil || len(d.Files) != 0 {
					k.Broken("Diff before any work: %+v, %v", d.Files, err)
				}
				k.write(ref)
				d, err := differ.Diff(k.Ctx, ref, swarm.DiffOptions{})
				if want := (swarm.FileChange{Path: workFile, Added: 1}); err != nil || !slices.Contains(d.Files, want) || len(d.Command) == 0 {
					k.Broken("want %+v and a command, got %+v, %v", want, d, err)
				}
				k.wantWork(ref)
				k.remove(ref, swarm.RemoveOptions{Force: true})
				_, err = differ.Diff(k.Ctx, ref, swarm.DiffOptions{})
				k.WantErr("Diff after the removal", err, swarm.ErrNotFound)
			}),
	}
}

// saved returns a workspace that was removed with work in it, and the ref of the saved work.
func (k *kit) saved() (ref swarm.WorkspaceRef, saved string) {
	k.Helper()
	ref = k.create(k.newSpec())
	k.write(ref)
	r := k.remove(ref, swarm.RemoveOptions{Force: true})
	if len(r.Rescues) == 0 {
		k.Fatal("a forced Remove saved nothing: %+v", r)
	}
	return ref, r.Rescues[0].Ref
}

func (k *kit) act(req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	return k.Workspace.(swarm.Rescuer).Rescue(k.Ctx, req)
}

func (k *kit) rescue(req swarm.RescueRequest) []swarm.SavedWork {
	k.Helper()
	works, err := k.act(req)
	k.Must(fmt.Sprintf("Rescue of %+v", req), err)
	return works
}
