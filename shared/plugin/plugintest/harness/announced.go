package harness

import (
	"encoding/json"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/schema"
	"github.com/swarmhost/swarm/shared/swarm"
)

// unknownKey is a setting that no plugin has.
const unknownKey = "plugintest_no_such_setting"

// announcedCases are about what a plugin announces of its settings and options.
func (p Program) announcedCases() []Item {
	configure := func(k Kit, settings map[string]any) error {
		data, err := json.Marshal(settings)
		if err != nil {
			k.Fatalf("write the settings: %v", err)
		}
		fresh := p
		fresh.Config = nil // it is given below
		return fresh.Start(k, client.ConfigFollows).Configure(k.Ctx, data)
	}
	return []Item{
		item("announce-schemas",
			"the schemas of settings and options that Describe returns are of the documented form and size",
			func(k Kit) { checkSchemas(k, p.Start(k).Info()) }),
		item("announce-settings",
			"settings with the announced defaults are accepted, and a setting that is not announced is INVALID_CONFIG",
			func(k Kit) {
				checkSettings(k, p.Start(k).Info(), p.Config, func(s map[string]any) error { return configure(k, s) })
			}),
	}
}

// checkSchemas reads the announced schemas.
func checkSchemas(k Kit, i client.Info) {
	for what, data := range map[string][]byte{"settings": i.Settings, "options": i.Options} {
		if data == nil {
			continue // it does not say
		}
		if _, err := schema.Parse(data); err != nil {
			k.Broken("that of its %s can't be read: %v", what, err)
		}
	}
}

// checkSettings gives a plugin the announced defaults in addition to the settings it is tested with, and then one
// that is not announced.
func checkSettings(k Kit, i client.Info, config []byte, configure func(map[string]any) error) {
	if i.Settings == nil {
		return // it does not say which there are
	}
	s, err := schema.Parse(i.Settings)
	k.Must("read the schema of its settings", err)
	settings := map[string]any{}
	if config != nil {
		k.Must("read the settings that it is tested with", json.Unmarshal(config, &settings))
	}
	for name, p := range s.Properties {
		if _, given := settings[name]; !given && p.Default != nil {
			settings[name] = p.Default
		}
	}
	k.Check("Configure with the defaults", configure(settings))
	settings[unknownKey] = true
	k.WantErr("Configure with an unknown setting", configure(settings), swarm.ErrInvalidConfig)
}
