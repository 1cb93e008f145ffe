package plugin

import "github.com/swarmhost/swarm/shared/plugin/internal/settings"

// Config is the plugin's own table of the host's configuration, as JSON. Its
// zero value is an empty table.
type Config struct{ json []byte }

// NewConfig returns a config that holds a JSON object, for tests.
func NewConfig(json []byte) Config { return Config{json} }

// Decode decodes the settings into the struct that into points to, by its json
// tags. Settings that are not given leave their field as it is, so fill in the
// defaults before. A key that the struct does not have, and a value of another
// type, is [swarm.ErrInvalidConfig] that names the key.
//
// [swarm.ErrInvalidConfig]: https://pkg.go.dev/github.com/swarmhost/swarm/shared/swarm#ErrInvalidConfig
func (c Config) Decode(into any) error { return settings.Decode(c.json, into) }
