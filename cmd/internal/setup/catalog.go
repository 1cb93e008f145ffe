package setup

import (
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/nearest"
)

// Catalog finds plugins as the host does.
func (s Setup) Catalog(configured map[string]config.Plugin) (*catalog.Catalog, error) {
	dir, err := s.StateDir()
	if err != nil {
		return nil, err
	}
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	plugins := make(map[string]catalog.Config, len(configured))
	for name, p := range configured {
		plugins[name] = catalog.Config(p)
	}
	return catalog.New(catalog.Options{Dir: dir, Executable: program, Env: s.Env, Plugins: plugins}), nil
}

// MissingBackend returns an error text if no such backend exists, else "".
func MissingBackend(known *catalog.Catalog, name string) string {
	var missing *catalog.NotFoundError
	if _, err := known.Find(name); !errors.As(err, &missing) {
		// A plugin that exists but does not work is not a mistake of the config.
		return ""
	}
	text := missing.Error()
	if near := nearest.Name(missing.Name, missing.Known); near != "" {
		text += fmt.Sprintf(" (did you mean '%s'?)", near)
	}
	return text
}
