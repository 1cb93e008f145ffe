package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// anyBackend is what Load gets, since the default backend does not matter.
const anyBackend = "tmux"

// find returns the plugin with a name, as the host would find it, or at a path, with its
// configured settings.
func find(ctx context.Context, s setup.Setup, target string, errs io.Writer) (catalog.Entry, error) {
	loaded, err := s.Load(anyBackend)
	if problems, ok := errors.AsType[config.Problems](err); ok {
		for _, p := range problems {
			fmt.Fprintf(errs, "swarm: warning: %s\n", safetext.Line(p.Error())) // it need not be about this plugin
		}
	} else if err != nil {
		return catalog.Entry{}, err
	}
	for _, r := range loaded.Refused {
		fmt.Fprintf(errs, "swarm: warning: %s\n", safetext.Line(r.Path+" is not used: "+r.Reason))
	}
	known, err := s.Catalog(loaded.Config.Plugins)
	if err != nil {
		return catalog.Entry{}, err
	}
	if !strings.ContainsRune(target, filepath.Separator) {
		e, err := known.Find(target)
		if _, missing := errors.AsType[*catalog.NotFoundError](err); missing && isFile(target) {
			return e, fmt.Errorf("%w; for the file here, say ./%s", err, target)
		}
		if err != nil {
			return e, err
		}
		return e, unchanged(ctx, s, e)
	}
	path, err := filepath.Abs(target)
	if err != nil {
		return catalog.Entry{}, err
	}
	name, _ := strings.CutPrefix(filepath.Base(path), catalog.Prefix)
	e := catalog.Entry{Name: name, Command: []string{path}, Config: loaded.Config.Plugins[name].Config}
	return e, e.Check()
}

// unchanged refuses a plugin that differs from the installed one or from the hash in the
// config, as the host does.
func unchanged(ctx context.Context, s setup.Setup, e catalog.Entry) error {
	if e.SHA256 == "" && e.Installed == nil && !e.InProject(e.Path()) {
		return nil
	}
	dir, err := s.StateDir()
	if err != nil {
		return err
	}
	plugins := launch.New(launch.Options{Dir: dir, Env: s.Env, Trusted: setup.TrustStore(dir).Hashes()})
	defer plugins.Close()
	_, err = plugins.Get(ctx, e)
	_, pinned := errors.AsType[*launch.PinError](err)
	_, changed := errors.AsType[*launch.ChangedError](err)
	_, untrusted := errors.AsType[*launch.TrustError](err)
	if pinned || changed || untrusted {
		return err
	}
	return nil // the cases report other faults
}

func (o *options) binary(s setup.Setup, e catalog.Entry) (backendtest.Binary, error) {
	b := backendtest.Binary{
		Path: e.Command[0], Args: e.Command[1:],
		Env:     s.Env,
		Workers: o.workers,
		Command: o.script(),
	}
	known, err := s.Catalog(nil)
	if err != nil {
		return b, err
	}
	// A backend that needs the shim reports that it is missing.
	b.Shim, err = known.ProgramPath("swarm-shim")
	if _, unsafe := errors.AsType[*catalog.UnsafeError](err); unsafe {
		return b, err
	}
	if len(e.Config) > 0 {
		if b.Config, err = json.Marshal(e.Config); err != nil {
			return b, fmt.Errorf("the settings of plugin '%s': %w", e.Name, err)
		}
	}
	if o.handles != "" {
		if b.Handles, err = readHandles(o.handles); err != nil {
			return b, err
		}
	}
	if len(o.options) > 0 {
		b.Spec = func(_ backendtest.T, spec *swarm.Spec) {
			spec.Options = make(map[string]string, len(o.options))
			for key, value := range o.options {
				spec.Options[key] = strings.ReplaceAll(value, "{id}", spec.ID)
			}
		}
	}
	return b, nil
}

// readHandles reads handles that older versions of a plugin wrote: a JSON array of
// {"version": 1, "data": base64}.
func readHandles(name string) ([]swarm.Handle, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Version uint32 `json:"version"`
		Data    []byte `json:"data"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: expected an array of {\"version\": number, \"data\": base64}: %w", name, err)
	}
	handles := make([]swarm.Handle, len(list))
	for i, h := range list {
		handles[i] = swarm.Handle(h)
	}
	return handles, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
