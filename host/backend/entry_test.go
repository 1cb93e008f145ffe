package backend_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/buildtest"
)

// The plugin of a worker is started as the config says now. The record is the fall-back.
func TestEntry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := func(name string) string {
		path := filepath.Join(dir, name)
		if err := buildtest.Write(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	before, now, found, gone := program("before"), program("now"), program("swarm-plugin-x"), filepath.Join(dir, "gone")
	settings := func(v string) map[string]any { return map[string]any{"address": v} }
	project := "/proj/swarm.toml"
	recorded := func(command, source string) *registry.Plugin {
		p := &registry.Plugin{Config: settings("before"), Source: source}
		if command != "" {
			p.Command = []string{command}
		}
		return p
	}
	current := func(command, source string) *catalog.Config {
		c := &catalog.Config{Config: settings("now"), Source: source}
		if command != "" {
			c.Command = []string{command}
		}
		return c
	}
	for name, c := range map[string]struct {
		record *registry.Plugin
		config *catalog.Config
		// alone says that no plugin of the name is found without a config.
		alone         bool
		want, address string
	}{
		"never configured":                    {nil, nil, false, found, ""},
		"configured since":                    {nil, current(now, "user"), false, now, "now"},
		"put right":                           {recorded(before, "user"), current(now, "user"), false, now, "now"},
		"other settings":                      {recorded("", "user"), current("", "user"), false, found, "now"},
		"no command any more":                 {recorded(before, "user"), current("", "user"), false, found, "now"},
		"put wrong":                           {recorded(before, "user"), current(gone, "user"), false, before, "before"},
		"both gone":                           {recorded(gone, "user"), current(gone, "user"), false, "", ""},
		"entry removed":                       {recorded(before, "user"), nil, false, found, "before"},
		"entry removed, found nowhere":        {recorded(before, "user"), nil, true, before, "before"},
		"settings removed":                    {recorded("", "user"), nil, false, found, "before"},
		"of a project that is not read":       {recorded(before, project), nil, false, before, "before"},
		"of a project, the user has another":  {recorded(before, project), current(now, "user"), false, before, "before"},
		"of a project that is read":           {recorded(before, project), current(now, project), false, now, "now"},
		"of another project":                  {recorded(before, project), current(now, "/other/swarm.toml"), false, before, "before"},
		"settings of a project":               {recorded("", project), current("", "user"), false, found, "before"},
		"of the user, a project overrides it": {recorded(before, "user"), current(now, project), false, before, "before"},
	} {
		o := catalog.Options{Plugins: map[string]catalog.Config{}}
		if !c.alone {
			o.Env = []string{"PATH=" + dir}
		}
		if c.config != nil {
			o.Plugins["x"] = *c.config
		}
		ps := backend.New(backend.Options{Catalog: catalog.New(o)})
		e, err := ps.Entry("x", c.record)
		if err != nil && c.want != "" || err == nil && c.want == "" {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if err != nil {
			continue
		}
		address, _ := e.Config["address"].(string)
		if diff := cmp.Diff([]string{c.want, c.address}, []string{e.Path(), address}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
