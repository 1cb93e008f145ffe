package backendtest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func foreseeCases() []testCase {
	return []testCase{
		newCase("check-spawn", scope{needs: swarm.CapCheckSpawn},
			"CheckSpawn has no effect, and accepts a spec that Spawn can carry out",
			func(k *kit) {
				w := k.newSpec(script.Sleep)
				checked := k.unmade(script.Sleep)
				before := k.files()
				for range 2 {
					k.Check("CheckSpawn", k.foresee(swarm.SpawnCheck{Spec: checked.spec}))
				}
				if after := k.files(); !slices.Equal(before, after) {
					k.Broken("the state directory held %q before, and %q after", before, after)
				}
				checked.gone()
				k.Check("Spawn", w.tryStart(k.Ctx))
				w.wantState(swarm.StateRunning, "the worker")
			}),
		newCase("check-spawn-refuses", scope{needs: swarm.CapCheckSpawn},
			"CheckSpawn with an option that the backend does not know is ErrInvalidSpec, as Spawn is",
			func(k *kit) {
				w := k.unmade(script.Sleep)
				options := map[string]string{"plugintest-no-such-option": "x"}
				maps.Copy(options, w.spec.Options)
				w.spec.Options = options
				k.WantErr("CheckSpawn", k.foresee(swarm.SpawnCheck{Spec: w.spec}), swarm.ErrInvalidSpec)
			}),
		newCase("check-spawn-replaces", scope{needs: swarm.CapCheckSpawn},
			"CheckSpawn for the place of a worker that runs does not affect it, and accepts its name; a handle that can't be read is ignored",
			func(k *kit) {
				old := k.ready(script.Sleep)
				w := k.unmade(script.Sleep)
				w.spec.Name = old.spec.Name
				k.Check("CheckSpawn", k.foresee(swarm.SpawnCheck{Spec: w.spec, Replaces: old.handle}))
				old.wantState(swarm.StateRunning, "the worker whose place is taken")
				other := k.unmade(script.Sleep)
				k.Check("CheckSpawn with a handle that can't be read", k.foresee(swarm.SpawnCheck{Spec: other.spec, Replaces: badHandle()}))
			}),
	}
}

// unmade returns a spec whose run directory does not exist yet.
func (k *kit) unmade(s script.Script) *worker {
	k.Helper()
	w := k.newSpec(s)
	if w.spec.Local != nil {
		k.Must("remove the run directory", os.Remove(w.spec.Local.RunDir))
	}
	return w
}

func (k *kit) foresee(c swarm.SpawnCheck) error {
	ctx, cancel := k.limited()
	defer cancel()
	return k.Backend.(swarm.SpawnChecker).CheckSpawn(ctx, c)
}

// files returns the names of the files in the state directory of local workers.
func (k *kit) files() []string {
	k.Helper()
	if k.state == "" {
		return nil
	}
	var names []string
	k.Must("list the state directory", filepath.WalkDir(k.state, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}
