package config

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/schema"
)

// Schema is a part of a JSON Schema. It uses only keywords whose meaning has not changed
// since draft 4, since some editors know no later draft.
type Schema struct {
	Schema               string            `json:"$schema,omitempty"`
	Title                string            `json:"title,omitempty"`
	Description          string            `json:"description,omitempty"`
	Type                 any               `json:"type,omitempty"`
	Enum                 []string          `json:"enum,omitempty"`
	Pattern              string            `json:"pattern,omitempty"`
	Format               string            `json:"format,omitempty"`
	MinLength            int               `json:"minLength,omitempty"`
	Minimum              *int              `json:"minimum,omitempty"`
	Maximum              *int              `json:"maximum,omitempty"`
	Items                *Schema           `json:"items,omitempty"`
	MinItems             int               `json:"minItems,omitempty"`
	AnyOf                []Schema          `json:"anyOf,omitempty"`
	Default              any               `json:"default,omitempty"`
	Required             []string          `json:"required,omitempty"`
	Properties           map[string]Schema `json:"properties,omitempty"`
	PatternProperties    map[string]Schema `json:"patternProperties,omitempty"`
	AdditionalProperties any               `json:"additionalProperties,omitempty"`
}

type either []string

// The names that plugins and workers may have.
const (
	pluginPattern = "^[a-z0-9][a-z0-9-]*$"
	workerPattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
)

var sectionDocs = map[string]string{
	"defaults": "Settings of new workers where neither a flag nor their own table says otherwise.",
	"kill":     "How new workers are ended. It is fixed when a worker is spawned.",
	"log":      "Output of workers, kept in the state directory.",
	"history":  "The history of workers. In the user's file only.",
	"team":     "Settings of agents of teams where the spawn does not say otherwise.",
	"install":  "How plugins are installed. In the user's file only.",
	"notify":   "Plugins that \"swarm watch --hooks\" delivers events to. In the user's file only.",
	"plugins":  "Settings of plugins, one table for each. In a project's file they hold only after \"swarm config trust\".",
	"workers":  "The workers that \"swarm up\" starts and \"swarm down\" ends, one table for each; in a project's swarm.toml only.",
	"answers":  "Rules that answer questions of agents, one table for each. In a project's file only those that ask.",
	"hooks":    "Commands that \"swarm watch --hooks\" runs for events: the keys of this table are one hook, and each table [hooks.NAME] is another one. In the user's file only.",
}

// JSONSchema returns the JSON Schema (draft 2020-12) of both files, made of the
// same fields that decode them. settings are what plugins announce of their settings, by their names.
func JSONSchema(settings map[string]*schema.Schema) ([]byte, error) {
	root := schemaOf(fields(), new(Default()))
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "Configuration of swarm"
	root.Description = "A project's swarm.toml, or a user's ~/.config/swarm/config.toml, which has everything but workers."
	plugins := tables(pluginPattern, schemaOf(pluginFields(), nil))
	for name, s := range settings {
		plugin := schemaOf(pluginFields(), nil)
		config := ofPlugin(s)
		config.Description = plugin.Properties[configKey].Description
		plugin.Properties[configKey] = config
		plugins.Properties[name] = plugin
	}
	root.Properties["plugins"] = plugins
	root.Properties["workers"] = tables(workerPattern, schemaOf(workerFields(), nil, "command"))
	// A pattern would hold for the keys of the table itself as well.
	hooks := schemaOf(hookFields(), nil)
	hooks.AdditionalProperties = schemaOf(hookFields(), nil, "on", "command")
	root.Properties["hooks"] = hooks
	root.Properties[answersKey] = listOf(schemaOf(answerFields(), nil, "answer"), 0)
	for name, doc := range sectionDocs {
		s := root.Properties[name]
		s.Description = doc
		root.Properties[name] = s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(root)
	return b.Bytes(), err
}

// ofPlugin returns the schema of settings as editors read it.
func ofPlugin(s *schema.Schema) Schema {
	out := Schema{Description: s.Description, Enum: s.Enum, Required: s.Required, Minimum: whole(s.Minimum), Maximum: whole(s.Maximum)}
	if s.Type != "" {
		out.Type = s.Type
	}
	if s.Type == schema.TypeNumber {
		out.Type = either{schema.TypeNumber, schema.TypeInteger}
	}
	if s.Default != nil && !s.Secret {
		out.Default = s.Default
	}
	if s.Items != nil {
		out.Items = new(ofPlugin(s.Items))
	}
	for name, p := range s.Properties {
		if out.Properties == nil {
			out.Properties = map[string]Schema{}
		}
		out.Properties[name] = ofPlugin(p)
	}
	switch {
	case s.Values != nil:
		out.AdditionalProperties = ofPlugin(s.Values)
	case s.Properties != nil:
		out.AdditionalProperties = false
	}
	return out
}

// whole returns a bound that editors can check, nil for one that is no whole number.
func whole(bound *float64) *int {
	if bound == nil || *bound != math.Trunc(*bound) || math.Abs(*bound) > 1<<53 {
		return nil
	}
	return new(int(*bound))
}

// tables describes a table of tables whose names match a pattern.
func tables(pattern string, table Schema) Schema {
	s := object()
	s.PatternProperties = map[string]Schema{pattern: table}
	return s
}

func object() Schema {
	return Schema{Type: "object", AdditionalProperties: false, Properties: map[string]Schema{}}
}

// schemaOf describes a table with these fields. They have no defaults if defaults is nil.
func schemaOf[T any](fields []field[T], defaults *T, required ...string) Schema {
	s := object()
	s.Required = required
	for _, f := range fields {
		property := f.schema
		property.Description = f.doc
		if defaults != nil {
			property.Default = data(f.show(defaults))
		}
		s.put(strings.Split(f.key, "."), property)
	}
	return s
}

// put adds a property, with the tables that it is in. An existing entry is
// the short form of such a table.
func (s *Schema) put(key []string, property Schema) {
	if len(key) == 1 {
		s.Properties[key[0]] = property
		return
	}
	below, known := s.Properties[key[0]]
	switch {
	case !known:
		below = object()
	case below.Type != "object" && below.AnyOf == nil:
		doc := below.Description
		below.Description = ""
		below = Schema{Description: doc, AnyOf: []Schema{below, object()}}
	}
	if below.AnyOf != nil {
		below.AnyOf[1].put(key[1:], property)
	} else {
		below.put(key[1:], property)
	}
	s.Properties[key[0]] = below
}

func listOf(item Schema, minItems int) Schema {
	return Schema{Type: "array", Items: &item, MinItems: minItems}
}

// data decodes a value in TOML for encoding/json; it returns nil for "".
func data(shown string) any {
	if shown == "" {
		return nil
	}
	var doc struct{ V any }
	if _, err := toml.Decode("V = "+shown, &doc); err != nil {
		return shown // not in this package's own TOML
	}
	return doc.V
}
