package backendtest

import (
	"context"
	"errors"
	"maps"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/schema"
	"github.com/swarmhost/swarm/shared/swarm"
)

func spawnCases() []testCase {
	return []testCase{
		newCase("spawn-returns-a-handle", scope{},
			"Spawn returns a handle of 1 to 4096 bytes with a version, and the worker exists",
			func(k *kit) {
				w := k.spawn(script.Sleep)
				if w.handle.Version == 0 || len(w.handle.Data) == 0 || len(w.handle.Data) > swarm.MaxHandle {
					k.Broken("the handle has the version %d and %d bytes", w.handle.Version, len(w.handle.Data))
				}
				w.wantState(swarm.StateRunning, "the worker")
			}),
		newCase("spawn-id-is-taken", scope{},
			"Spawn of an id that already exists is ErrExists and does not affect the first worker",
			func(k *kit) {
				w := k.ready(script.Sleep)
				k.WantErr("Spawn again", (&worker{kit: k, spec: w.spec}).tryStart(k.Ctx), swarm.ErrExists)
				w.wantState(swarm.StateRunning, "the first worker")
			}),
		newCase("spawn-no-such-command", scope{},
			"Spawn of a command that does not exist is ErrInvalidSpec and leaves nothing behind",
			func(k *kit) {
				k.newSpec(script.Missing).refused("a command that does not exist")
			}),
		newCase("spawn-no-such-directory", scope{local: true},
			"Spawn in a directory that does not exist is ErrInvalidSpec and leaves nothing behind",
			func(k *kit) {
				w := k.newSpec(script.Sleep)
				w.spec.Dir = filepath.Join(k.state, "no", "such", "directory")
				w.refused("a directory that does not exist")
			}),
		newCase("spawn-unknown-option", scope{},
			"Spawn with an option that the backend does not know is ErrInvalidSpec and leaves nothing behind",
			func(k *kit) {
				w := k.newSpec(script.Sleep)
				options := map[string]string{"plugintest-no-such-option": "x"}
				maps.Copy(options, w.spec.Options)
				w.spec.Options = options
				w.refused("an unknown option")
			}),
		newCase("spawn-announced-options", scope{built: true},
			"Spawn takes the options that Describe announces, with their defaults",
			func(k *kit) {
				w := k.newSpec(script.Sleep)
				given := w.spec.Options
				w.spec.Options = k.announcedOptions()
				maps.Copy(w.spec.Options, given)
				w.start()
			}),
		newCase("spawn-environment", scope{},
			"a worker's environment includes Spec.Env, where later entries win",
			func(k *kit) {
				w := k.spawn(script.Say, script.ValueVar+"=first", script.ValueVar+"=a value")
				w.wantLine("a value")
			}),
		newCase("spawn-cancelled", scope{},
			"Spawn with a context that has ended returns its error and leaves nothing behind",
			func(k *kit) {
				ctx, cancel := context.WithCancel(k.Ctx)
				cancel()
				w := k.newSpec(script.Sleep)
				k.WantErr("Spawn", w.tryStart(ctx), context.Canceled)
				w.gone()
			}),
		newCase("spawn-many-at-once", scope{},
			"all methods may be called concurrently: 20 workers are spawned, checked and killed together",
			func(k *kit) {
				const n = 20
				workers := make([]*worker, n)
				for i := range workers {
					workers[i] = k.newSpec(script.Sleep)
				}
				errs := make([]error, n)
				harness.Together(n, func(i int) {
					w := workers[i]
					if errs[i] = w.tryStart(k.Ctx); errs[i] != nil {
						return
					}
					st, err := k.Status(k.Ctx, w.handle)
					if err == nil && st.State != swarm.StateRunning {
						err = errors.New("a new worker is " + st.State.String())
					}
					if err == nil {
						_, err = k.Kill(k.Ctx, w.handle, gentle())
					}
					if err == nil {
						st, err = k.Status(k.Ctx, w.handle)
					}
					if err == nil && st.State != swarm.StateExited {
						err = errors.New("a killed worker is " + st.State.String())
					}
					errs[i] = err
				})
				k.Check("the calls", errors.Join(errs...))
			}),
	}
}

// announcedOptions returns the options that have a default, with it.
func (k *kit) announcedOptions() map[string]string {
	k.Helper()
	options := map[string]string{}
	data := k.plugin.Info().Options
	if data == nil {
		return options // the plugin does not say which there are
	}
	s, err := schema.Parse(data)
	k.Must("read the schema of its options", err)
	for name, p := range s.Properties {
		if p.Default != nil {
			options[name] = p.OptionText()
		}
	}
	return options
}

// refused checks that the worker can't be spawned.
func (w *worker) refused(why string) {
	w.Helper()
	w.WantErr("Spawn with "+why, w.tryStart(w.Ctx), swarm.ErrInvalidSpec)
	w.gone()
}

// gone checks that a worker that could not be spawned can't be found.
func (w *worker) gone() {
	w.Helper()
	if !w.has(swarm.CapFind) {
		return
	}
	h, err := w.find(w.subject)
	if errors.Is(err, swarm.ErrNotFound) {
		return
	}
	if err != nil {
		w.Broken("Find afterwards: want ErrNotFound, got %v", err)
		return
	}
	if st := w.statusOf(w.subject, h); st.State == swarm.StateRunning {
		w.started(h)
		w.Broken("the worker was left behind")
	}
}
