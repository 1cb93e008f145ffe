package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
)

// Decode decodes a JSON object into the struct that into points to, strictly. A missing key gets the
// default of its tag; without one, its field stays unchanged. Nothing at all, and null, are an empty
// object. Mistakes in the object are [Problems]; any other error is one of the program.
func Decode(data []byte, into any) error {
	s, err := targetOf(into, Of)
	if err != nil {
		return err
	}
	table, err := s.readTable(data)
	if err != nil {
		return err
	}
	return s.fillIn(table, into)
}

// CheckJSON returns the mistakes in a JSON object as [Problems], nil if there are none.
func (s *Schema) CheckJSON(data []byte) error {
	_, err := s.readTable(data)
	return err
}

func (s *Schema) readTable(data []byte) (any, error) {
	table := any(map[string]any{})
	if data = bytes.TrimSpace(data); len(data) > 0 && string(data) != "null" {
		var err error
		if table, err = readJSON(data); err != nil {
			return nil, Problems{{Text: err.Error()}}
		}
	}
	if problems := s.Check(table); len(problems) > 0 {
		return nil, problems
	}
	return table, nil
}

// DecodeOptions is [Decode] for options.
func DecodeOptions(options map[string]string, into any) error {
	s, err := targetOf(into, OfOptions)
	if err != nil {
		return err
	}
	values, problems := s.readOptions(options)
	if len(problems) > 0 {
		return problems
	}
	return s.fillIn(values, into)
}

func targetOf(into any, of func(reflect.Type) (*Schema, error)) (*Schema, error) {
	target := reflect.TypeOf(into)
	if target == nil || target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("decode settings: want a pointer to a struct, got %T", into)
	}
	s, err := of(target.Elem())
	if err != nil {
		return nil, fmt.Errorf("decode settings into %T: %w", into, err)
	}
	return s, nil
}

func (s *Schema) fillIn(table, into any) error {
	data, err := json.Marshal(s.withDefaults(table))
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Problems{{Key: wrong.Field, Text: fmt.Sprintf("must be a value of %v, not %s", wrong.Type, wrong.Value)}}
	}
	if err != nil { // of a type that decodes itself
		return Problems{{Text: err.Error()}}
	}
	return nil
}

// withDefaults returns the value with the defaults of all that is missing.
func (s *Schema) withDefaults(v any) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for key, value := range v {
			if p, ok := s.Properties[key]; ok {
				out[key] = p.withDefaults(value)
			} else {
				out[key] = s.Values.withDefaults(value)
			}
		}
		for key, p := range s.Properties {
			if _, given := v[key]; given {
				continue
			}
			if p.Default != nil {
				out[key] = p.Default
			} else if below, ok := p.withDefaults(map[string]any{}).(map[string]any); ok && p.Type == TypeObject && len(below) > 0 {
				out[key] = below
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.Items.withDefaults(item)
		}
		return out
	default:
		return v
	}
}
