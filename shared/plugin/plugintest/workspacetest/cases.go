package workspacetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

func cases() []testCase {
	return []testCase{
		newCase("create", "",
			"Create makes a directory and returns everything that is needed to remove it",
			func(k *kit) {
				spec := k.newSpec()
				ref := k.create(spec)
				if ref.ID != spec.ID || ref.Name != spec.Name || !filepath.IsAbs(ref.Path) || !filepath.IsAbs(ref.Base) {
					k.Broken("Create made %+v from %+v", ref, spec)
				}
				if !isDir(ref.Path) {
					k.Broken("there is no directory %s", ref.Path)
				}
			}),
		newCase("create-of-nothing", "",
			"Create from an invalid base is ErrInvalidSpec and leaves nothing behind",
			func(k *kit) {
				spec := k.newSpec()
				// It does not exist: an empty directory may be a source like any other.
				spec.Base = filepath.Join(k.TempDir(), "nothing")
				spec.Parent = filepath.Join(k.TempDir(), "parent")
				_, err := k.Create(k.Ctx, spec)
				k.WantErr("Create", err, swarm.ErrInvalidSpec)
				if isDir(filepath.Join(spec.Parent, spec.Name)) {
					k.Broken("a directory was left behind")
				}
			}),
		newCase("create-twice", "",
			"Create where a workspace already exists is ErrInvalidSpec and does not affect the existing one",
			func(k *kit) {
				spec := k.newSpec()
				ref := k.create(spec)
				k.write(ref)
				again := spec
				again.ID += "x"
				_, err := k.Create(k.Ctx, again)
				k.WantErr("Create", err, swarm.ErrInvalidSpec)
				k.wantWork(ref)
			}),
		newCase("create-with-an-unknown-option", "",
			"Create with an option that the plugin does not know is ErrInvalidSpec that names it, and leaves nothing behind",
			func(k *kit) {
				spec := k.newSpec()
				spec.Options = map[string]string{unknownOption: "1"}
				ref, err := k.Create(k.Ctx, spec)
				k.WantErr("Create", err, swarm.ErrInvalidSpec)
				if err == nil || !strings.Contains(err.Error(), unknownOption) {
					k.Broken("Create made %+v, and its error is %v", ref, err)
				}
				spec.Options = nil
				k.create(spec) // fails if something was left behind
			}),
		newCase("create-with-a-branch", "",
			"a workspace has the branch that was asked for; a plugin whose workspaces have none refuses it with ErrInvalidSpec",
			func(k *kit) {
				spec := k.newSpec()
				spec.Branch = "plugintest-" + spec.ID
				ref, err := k.Create(k.Ctx, spec)
				if err != nil {
					k.WantErr("Create", err, swarm.ErrInvalidSpec)
				} else if ref.Branch != spec.Branch {
					k.Broken("Create made a workspace with branch '%s', want '%s'", ref.Branch, spec.Branch)
				}
			}),
		newCase("create-cancelled", "",
			"Create with a context that has ended returns its error and leaves nothing behind",
			func(k *kit) {
				ctx, cancel := context.WithCancel(k.Ctx)
				cancel()
				spec := k.newSpec()
				_, err := k.Create(ctx, spec)
				k.WantErr("Create", err, context.Canceled)
				k.create(spec) // fails if something was left behind
			}),
		newCase("create-many-at-once", "",
			"all methods may be called concurrently: 20 workspaces of one base are made and removed together",
			func(k *kit) {
				errs := make([]error, 20)
				harness.Together(len(errs), func(i int) {
					var ref swarm.WorkspaceRef
					if ref, errs[i] = k.Create(k.Ctx, k.newSpec()); errs[i] != nil {
						return
					}
					var r swarm.RemoveResult
					if r, errs[i] = k.Remove(k.Ctx, ref, swarm.RemoveOptions{}); r.Kept != nil {
						errs[i] = errors.New(r.Kept.Reason)
					}
				})
				k.Check("Create and Remove", errors.Join(errs...))
			}),
		newCase("check-create", swarm.CapCheckCreate,
			"CheckCreate has no effect, and accepts a spec that Create can carry out",
			func(k *kit) {
				spec := k.newSpec()
				spec.Parent = filepath.Join(k.TempDir(), "parent")
				for range 2 {
					k.Check("CheckCreate", k.foresee(swarm.WorkspaceCheck{Spec: spec}))
				}
				if exists(spec.Parent) {
					k.Broken("%s was made", spec.Parent)
				}
				k.create(spec) // fails if something was made
			}),
		newCase("check-create-refuses", swarm.CapCheckCreate,
			"CheckCreate is ErrInvalidSpec where Create is, unless the workspace in the way is about to be removed",
			func(k *kit) {
				spec := k.newSpec()
				ref := k.create(spec)
				k.write(ref)
				again := spec
				again.ID += "x"
				k.WantErr("CheckCreate where a workspace exists", k.foresee(swarm.WorkspaceCheck{Spec: again}), swarm.ErrInvalidSpec)
				k.Check("CheckCreate in place of it", k.foresee(swarm.WorkspaceCheck{Spec: again, Removed: &ref}))
				k.wantWork(ref)
				none := k.newSpec()
				none.Base = filepath.Join(k.TempDir(), "nothing")
				k.WantErr("CheckCreate from an invalid base", k.foresee(swarm.WorkspaceCheck{Spec: none}), swarm.ErrInvalidSpec)
				odd := k.newSpec()
				odd.Options = map[string]string{unknownOption: "1"}
				k.WantErr("CheckCreate with an unknown option", k.foresee(swarm.WorkspaceCheck{Spec: odd}), swarm.ErrInvalidSpec)
			}),
		newCase("inspect-changes-nothing", "",
			"Inspect reports what Remove would do and changes nothing",
			func(k *kit) {
				ref := k.create(k.newSpec())
				if st := k.inspect(ref); st.Missing || st.Kept != nil {
					k.Broken("a new workspace: %+v", st)
				}
				k.write(ref)
				first, again := k.inspect(ref), k.inspect(ref)
				if first.Missing || first.Kept == nil || first.Kept.Reason == "" || !first.Kept.Forceable {
					k.Broken("a workspace with work in it: %+v", first)
				}
				if !reflect.DeepEqual(first, again) {
					k.Broken("first %+v, then %+v", first, again)
				}
				k.wantWork(ref)
			}),
		newCase("remove", "",
			"Remove removes the recorded directory and nothing else, and is idempotent",
			func(k *kit) {
				ref, other := k.create(k.newSpec()), k.create(k.newSpec())
				for range 2 {
					if r := k.remove(ref, swarm.RemoveOptions{}); r.Kept != nil {
						k.Broken("it was kept: %s", r.Kept.Reason)
					}
				}
				if exists(ref.Path) {
					k.Broken("%s is still there", ref.Path)
				}
				if st := k.inspect(ref); !st.Missing {
					k.Broken("Inspect of a removed workspace: %+v", st)
				}
				if !isDir(other.Path) || !isDir(k.base) {
					k.Broken("another workspace or the base was removed too")
				}
			}),
		newCase("remove-keeps-work", "",
			"work that exists nowhere else keeps a workspace from being removed; that is a result, not an error",
			func(k *kit) {
				ref := k.create(k.newSpec())
				k.write(ref)
				r := k.remove(ref, swarm.RemoveOptions{})
				if r.Kept == nil || r.Kept.Reason == "" || !r.Kept.Forceable {
					k.Broken("got %+v", r.Kept)
				}
				k.wantWork(ref)
			}),
		newCase("remove-forced", "",
			"with Force, Remove saves the work, returns a command that restores it, and removes the workspace",
			func(k *kit) {
				ref := k.create(k.newSpec())
				k.write(ref)
				r := k.remove(ref, swarm.RemoveOptions{Force: true})
				if r.Kept != nil || exists(ref.Path) {
					k.Broken("it was kept: %+v", r.Kept)
				}
				if len(r.Rescues) == 0 || r.Rescues[0].Ref == "" || r.Rescues[0].Command == "" {
					k.Broken("the rescues are %+v", r.Rescues)
				}
			}),
		newCase("remove-what-is-none", "",
			"a directory that is not a workspace is not removed, whatever the reference says",
			func(k *kit) {
				ref := k.create(k.newSpec())
				ref.Path = k.TempDir()
				k.write(ref)
				for _, force := range []bool{false, true} {
					_, _ = k.Remove(k.Ctx, ref, swarm.RemoveOptions{Force: force}) // with any result
				}
				k.wantWork(ref)
			}),
		newCase("invalid-handle", "",
			"a workspace with a handle that the plugin can't read is ErrInvalidHandle, and stays",
			func(k *kit) {
				ref := k.create(k.newSpec())
				for what, h := range map[string]swarm.Handle{
					"of an unknown version": {Version: ref.Handle.Version + 1000, Data: ref.Handle.Data},
					"that can't be read":    {Version: max(ref.Handle.Version, 1), Data: []byte("plugintest: not a handle")},
				} {
					other := ref
					other.Handle = h
					_, err := k.Inspect(k.Ctx, other, swarm.RemoveOptions{})
					k.WantErr("Inspect of a workspace with a handle "+what, err, swarm.ErrInvalidHandle)
					_, err = k.Remove(k.Ctx, other, swarm.RemoveOptions{Force: true})
					k.WantErr("Remove of a workspace with a handle "+what, err, swarm.ErrInvalidHandle)
					if differ, ok := k.Workspace.(swarm.Differ); ok && slices.Contains(k.caps, swarm.CapDiff) {
						_, err = differ.Diff(k.Ctx, other, swarm.DiffOptions{})
						k.WantErr("Diff of a workspace with a handle "+what, err, swarm.ErrInvalidHandle)
					}
				}
				if !isDir(ref.Path) {
					k.Broken("there is no directory %s any more", ref.Path)
				}
			}),
		newCase("workspace-outlives-the-plugin", "",
			"a reference works in a new process of the plugin: a plugin holds no state",
			func(k *kit) {
				ref := k.create(k.newSpec())
				r, err := k.open(k.T).Remove(k.Ctx, ref, swarm.RemoveOptions{})
				if err != nil || r.Kept != nil || exists(ref.Path) {
					k.Broken("Remove by a new process: %+v, %v", r.Kept, err)
				}
			}),
		newCase("find-workspace", swarm.CapFindWorkspace,
			"FindWorkspace returns what Create made, or ErrNotFound",
			func(k *kit) {
				spec := k.newSpec()
				ref := k.create(spec)
				finder := k.open(k.T).Workspace.(swarm.WorkspaceFinder)
				if got, err := finder.FindWorkspace(k.Ctx, spec); err != nil || !reflect.DeepEqual(got, ref) {
					k.Broken("made %+v, found %+v, error %v", ref, got, err)
				}
				_, err := finder.FindWorkspace(k.Ctx, k.newSpec())
				k.WantErr("FindWorkspace of a workspace that was never made", err, swarm.ErrNotFound)
			}),
		newCase("check", swarm.CapCheck,
			"Check returns nil where the plugin works",
			func(k *kit) {
				k.Check("Check", k.Workspace.(swarm.Checker).Check(k.Ctx))
			}),
	}
}

func (k *kit) newSpec() swarm.WorkspaceSpec {
	id, name := harness.NewID()
	return swarm.WorkspaceSpec{ID: id, Name: name, Base: k.base}
}

func (k *kit) foresee(c swarm.WorkspaceCheck) error {
	return k.Workspace.(swarm.WorkspaceChecker).CheckCreate(k.Ctx, c)
}

func (k *kit) create(spec swarm.WorkspaceSpec) swarm.WorkspaceRef {
	k.Helper()
	ref, err := k.Create(k.Ctx, spec)
	k.Must("Create", err)
	return ref
}

func (k *kit) inspect(ref swarm.WorkspaceRef) swarm.WorkspaceState {
	k.Helper()
	st, err := k.Inspect(k.Ctx, ref, swarm.RemoveOptions{})
	k.Must("Inspect", err)
	return st
}

func (k *kit) remove(ref swarm.WorkspaceRef, o swarm.RemoveOptions) swarm.RemoveResult {
	k.Helper()
	r, err := k.Remove(k.Ctx, ref, o)
	k.Must("Remove", err)
	return r
}

// unknownOption is an option that no plugin has.
const unknownOption = "plugintest-none"

const (
	workFile = "plugintest.txt"
	workText = "this exists nowhere else\n"
)

func (k *kit) write(ref swarm.WorkspaceRef) {
	k.Helper()
	k.Must("work in the workspace", os.WriteFile(filepath.Join(ref.Path, workFile), []byte(workText), 0o600))
}

func (k *kit) wantWork(ref swarm.WorkspaceRef) {
	k.Helper()
	if got, err := os.ReadFile(filepath.Join(ref.Path, workFile)); err != nil || string(got) != workText {
		k.Broken("the work is lost: %v", err)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
