package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/safetext"
)

// The types of values. A schema without a type describes any value.
const (
	TypeString  = "string"
	TypeBoolean = "boolean"
	TypeInteger = "integer"
	TypeNumber  = "number"
	TypeArray   = "array"
	TypeObject  = "object"
)

// Schema describes a value. Its JSON is a JSON Schema.
type Schema struct {
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	// Default is the value, in JSON, of a property that is missing; nil: there is none.
	Default json.RawMessage `json:"default,omitempty"`
	// Enum are the strings that a string can be; nil: any.
	Enum []string `json:"enum,omitempty"`
	// Minimum and Maximum bound a number; nil: it has no bound.
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
	// Secret says that the value must not be shown.
	Secret bool `json:"writeOnly,omitempty"`
	// Items describes the elements of an array; nil: they can be anything.
	Items *Schema `json:"items,omitempty"`
	// Properties describe the values of an object by their keys. An object has no other keys, unless
	// Properties is nil or Values is set.
	Properties map[string]*Schema `json:"properties,omitzero"`
	// Values describes the values of an object that Properties does not have.
	Values *Schema `json:"additionalProperties,omitempty"`
	// Required are the keys that an object must have.
	Required []string `json:"required,omitempty"`
}

// Limits of what [Parse] accepts.
const (
	// MaxSize is the largest size of a schema in JSON, in bytes.
	MaxSize = 64 << 10
	// MaxDepth is how deep values can be nested; a setting that is no table has the depth 1.
	MaxDepth = 8
	// MaxProperties is the largest number of properties, with those of inner objects.
	MaxProperties = 500
	// maxDescription and maxWord bound a description and a word of an enum, in bytes.
	maxDescription = 2 << 10
	maxWord        = 128
)

// Parse reads the schema of an object that a plugin sent. A schema that exceeds the limits or has
// other than the documented forms is an error. The texts of the result can be shown as they are:
// descriptions are one line, and no text has a hidden character.
func Parse(data []byte) (*Schema, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("it has %d bytes, at most %d", len(data), MaxSize)
	}
	s := new(Schema)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	if s.Type != TypeObject || s.Properties == nil {
		return nil, errors.New(`it has to be of the type "object", and have "properties"`)
	}
	left := MaxProperties
	return s, s.accept("", 0, &left)
}

// namePattern is what keys of settings look like: words that need no quotes in TOML.
const namePattern = `^[A-Za-z0-9_-]{1,64}$`

var nameRegexp = lazyregexp.New(namePattern)

func (s *Schema) accept(path string, depth int, left *int) error {
	*left -= len(s.Properties)
	switch {
	case depth > MaxDepth:
		return fmt.Errorf("%s: it is nested more than %d deep", path, MaxDepth)
	case *left < 0:
		return fmt.Errorf("it has more than %d properties", MaxProperties)
	}
	switch s.Type {
	case "", TypeString, TypeBoolean, TypeInteger, TypeNumber, TypeArray, TypeObject:
	default:
		s.Type = "" // one of a later version, which the plugin checks itself
	}
	s.Description = safetext.Cut(safetext.Line(strings.Join(strings.Fields(s.Description), " ")), maxDescription)
	for _, word := range s.Enum {
		if len(word) > maxWord || safetext.Line(word) != word {
			return fmt.Errorf("%s: %q can't be a word of an enum", path, safetext.Cut(word, maxWord))
		}
	}
	if s.Default != nil {
		if err := s.acceptDefault(path); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if p == nil || !nameRegexp().MatchString(name) {
			return fmt.Errorf("%q can't be the name of a setting", safetext.Cut(name, maxWord))
		}
		if err := p.accept(join(path, name), depth+1, left); err != nil {
			return err
		}
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("%q is required, but there is no such property", safetext.Cut(name, maxWord))
		}
	}
	for _, below := range []*Schema{s.Items, s.Values} {
		if below == nil {
			continue
		}
		if err := below.accept(path, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) acceptDefault(path string) error {
	var compact bytes.Buffer
	value, err := readJSON(s.Default)
	if err == nil {
		err = json.Compact(&compact, s.Default)
	}
	if err != nil {
		return fmt.Errorf("%s: its default: %w", path, err)
	}
	if problems := s.Check(value); len(problems) > 0 {
		return fmt.Errorf("its default does not fit: %w", at(path, problems[0]))
	}
	s.Default = safetext.JSON(compact.Bytes())
	return nil
}

func at(path string, p Problem) Problem {
	p.Key = join(path, p.Key)
	return p
}

// UnmarshalJSON reads additionalProperties in all of its forms.
func (s *Schema) UnmarshalJSON(data []byte) error {
	type plain Schema
	read := struct {
		*plain
		Values json.RawMessage `json:"additionalProperties"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	switch string(read.Values) {
	case "", "null", "false":
		return nil
	case "true":
		s.Values = new(Schema)
		return nil
	default:
		return json.Unmarshal(read.Values, &s.Values)
	}
}

// Names returns the names of the properties, sorted.
func (s *Schema) Names() []string { return slices.Sorted(maps.Keys(s.Properties)) }

// At returns the schema of a key such as "tls.ca_cert" or "servers[1].path", nil if there is none.
func (s *Schema) At(key string) *Schema {
	for part := range strings.SplitSeq(indexRegexp().ReplaceAllString(key, ""), ".") {
		for s != nil && s.Items != nil {
			s = s.Items
		}
		if s == nil {
			return nil
		}
		if p, ok := s.Properties[part]; ok {
			s = p
		} else {
			s = s.Values
		}
	}
	return s
}

var indexRegexp = lazyregexp.New(`\[\d*\]`)

// Hidden takes the place of a secret value.
const Hidden = "***"

// Redact returns the value with [Hidden] in the place of what is secret.
func (s *Schema) Redact(v any) any {
	if s == nil {
		return v
	}
	if s.Secret {
		return Hidden
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if p, ok := s.Properties[key]; ok {
				out[key] = p.Redact(value)
			} else {
				out[key] = s.Values.Redact(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.Items.Redact(item)
		}
		return out
	case []map[string]any:
		return s.Redact(listOf(v))
	default:
		return v
	}
}

// HideAll returns the value with [Hidden] in the place of all that is no table: nothing is known of
// what is secret in it.
func HideAll(v any) any {
	table, ok := v.(map[string]any)
	if !ok {
		return Hidden
	}
	out := make(map[string]any, len(table))
	for key, value := range table {
		out[key] = HideAll(value)
	}
	return out
}

func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}
