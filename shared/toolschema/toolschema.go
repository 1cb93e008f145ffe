// Package toolschema reads the JSON Schema of a plugin's tool, and checks inputs and answers
// against it. The schemas are third-party text: a schema by which a check could take without
// limit is refused.
package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/shared/nearest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Schema is the schema of an input or of an answer.
type Schema struct {
	// Text is the schema itself. It is shared: don't change it.
	Text     *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// ReadInput reads the input schema of a tool; an empty one is an object without fields.
func ReadInput(t swarm.Tool) (*Schema, error) {
	return read(t.Input, `{"type": "object", "additionalProperties": false}`, "input")
}

// ReadOutput reads the output schema of a tool; an empty one is any object.
func ReadOutput(t swarm.Tool) (*Schema, error) {
	return read(t.Output, `{"type": "object"}`, "output")
}

func read(text []byte, empty, what string) (*Schema, error) {
	if len(text) == 0 {
		text = []byte(empty)
	}
	s, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s schema: %w", what, err)
	}
	return s, nil
}

// maxDepth bounds how deeply objects and arrays are nested in a schema or in a checked value.
const maxDepth = 64

func compile(text []byte) (*Schema, error) {
	if len(text) > swarm.MaxToolSchema {
		return nil, fmt.Errorf("it has %d bytes, at most %d", len(text), swarm.MaxToolSchema)
	}
	value, err := decode(text)
	if err != nil {
		return nil, err
	}
	if err := noReference(value); err != nil {
		return nil, err
	}
	s := &Schema{Text: new(jsonschema.Schema)}
	if err := json.Unmarshal(text, s.Text); err != nil {
		return nil, err
	}
	if s.Text.Type != "object" {
		return nil, errors.New(`its type must be "object"`)
	}
	// Without a loader nothing is read from elsewhere.
	if s.resolved, err = s.Text.Resolve(nil); err != nil {
		return nil, err
	}
	return s, nil
}

// noReference refuses references. By one, a schema can refer to itself, and the check would
// never end.
func noReference(value any) error {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			// A property may have such a name; its value is a schema then, not a text.
			if _, text := inner.(string); text && (key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef") {
				return fmt.Errorf("it has a reference (%s), write the schema out in its place", key)
			}
			if err := noReference(inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := noReference(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check returns an error unless data is a JSON object that fits the schema. The error names a
// field that is wrong.
func (s *Schema) Check(data []byte) error {
	value, err := decode(data)
	if err != nil {
		return err
	}
	if _, ok := value.(map[string]any); !ok {
		return errors.New("it must be a JSON object")
	}
	if err := s.resolved.Validate(value); err != nil {
		if text := unknown(s.Text, "", value); text != "" {
			return errors.New(text)
		}
		return errors.New(plain(err.Error()))
	}
	return nil
}

// unknown returns the problem of the first field that an object or array has and its schema does not
// allow, with the most similar field that it knows; empty if it allows all.
func unknown(s *jsonschema.Schema, path string, value any) string {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			if property := s.Properties[name]; property != nil {
				if text := unknown(property, at, v[name]); text != "" {
					return text
				}
			} else if isClosed(s) {
				return at + ": unknown field" + hint(name, slices.Sorted(maps.Keys(s.Properties)))
			}
		}
	case []any:
		if s.Items == nil {
			return ""
		}
		for _, inner := range v {
			if text := unknown(s.Items, path+"[]", inner); text != "" {
				return text
			}
		}
	}
	return ""
}

// isClosed reports whether a schema allows no fields but its own.
func isClosed(s *jsonschema.Schema) bool {
	more := s.AdditionalProperties
	return more != nil && more.Not != nil && reflect.ValueOf(*more.Not).IsZero() && len(s.PatternProperties) == 0
}

// hint says which field was probably meant.
func hint(name string, known []string) string {
	if near := nearest.Field(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	if len(known) == 0 {
		return " (it has no fields)"
	}
	return " (known fields: " + strings.Join(known, ", ") + ")"
}

// plain turns the message of the validator, "validating root: validating /properties/a/items:
// type: 5 has type …", into one that names the field: "a[]: type: 5 has type …".
func plain(text string) string {
	field := ""
	for {
		at, rest, ok := strings.Cut(text, ": ")
		path, about := strings.CutPrefix(at, "validating ")
		if !ok || !about {
			break
		}
		text = rest
		if path != "root" {
			field = path
		}
	}
	name := ""
	parts := strings.Split(strings.TrimPrefix(field, "/"), "/")
	for i := 0; i < len(parts); i++ {
		switch {
		case parts[i] == "properties" && i+1 < len(parts):
			i++
			name = strings.TrimPrefix(name+"."+parts[i], ".")
		case parts[i] == "items":
			name += "[]"
		}
	}
	if name == "" {
		return text
	}
	return name + ": " + text
}

// decode reads one JSON value that is not nested too deeply.
func decode(data []byte) (value any, err error) {
	if depth(data) > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("unexpected end")
		}
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: unexpected data after the value")
	}
	return value, nil
}

// depth returns how deeply a JSON text is nested; one that is not JSON is found when it is read.
func depth(data []byte) (deepest int) {
	now, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
