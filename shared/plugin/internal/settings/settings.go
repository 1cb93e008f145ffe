// Package settings decodes the settings of a plugin strictly: an unknown key is an error
// that suggests the nearest known one.
//
// It is imported by [github.com/swarmhost/swarm/shared/plugin] alone.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/nearest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Decode decodes a JSON object into the struct that into points to. Nothing at
// all, and null, are an empty object.
func Decode(data []byte, into any) error {
	target := reflect.TypeOf(into)
	if target == nil || target.Kind() != reflect.Pointer || target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("decode settings: want a pointer to a struct, got %T", into)
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "null" {
		return nil
	}
	if problems := append(unknown(data, target.Elem(), ""), wrongTypes(data, target.Elem())...); len(problems) > 0 {
		return fmt.Errorf("%w: %s", swarm.ErrInvalidConfig, strings.Join(problems, "; "))
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %s", swarm.ErrInvalidConfig, explain(err))
	}
	return nil
}

// wrongTypes describes the settings whose value does not fit their field, in the order of their keys.
// The decoder itself stops at the first one.
func wrongTypes(data []byte, t reflect.Type) []string {
	var table map[string]json.RawMessage
	if json.Unmarshal(data, &table) != nil {
		return nil // not a table, which the decoder reports
	}
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(table)) {
		one, err := json.Marshal(map[string]json.RawMessage{key: table[key]})
		if err == nil {
			err = json.Unmarshal(one, reflect.New(t).Interface())
		}
		if err != nil {
			problems = append(problems, explain(err))
		}
	}
	return problems
}

// explain turns an error of encoding/json into one in the user's words.
func explain(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Sprintf("want a table, got %s", wrong.Value)
		}
		return fmt.Sprintf("%q must be %s, not %s", wrong.Field, describe(wrong.Type), wrong.Value)
	}
	return err.Error()
}

func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a table"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number (" + t.String() + ")"
	default:
		return t.String()
	}
}

// unknown describes the keys of data that a value of type t has no field for,
// wherever they are, in the order of their paths.
func unknown(data []byte, t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil // it decides for itself
	}
	switch t.Kind() {
	case reflect.Struct:
		return unknownFields(data, t, path)
	case reflect.Map:
		var table map[string]json.RawMessage
		_ = json.Unmarshal(data, &table) // the decoder reports any other type
		var problems []string
		for _, key := range slices.Sorted(maps.Keys(table)) {
			problems = append(problems, unknown(table[key], t.Elem(), join(path, key))...)
		}
		return problems
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		_ = json.Unmarshal(data, &list)
		var problems []string
		for i, item := range list {
			problems = append(problems, unknown(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
		return problems
	default:
		return nil
	}
}

func unknownFields(data []byte, t reflect.Type, path string) []string {
	var table map[string]json.RawMessage
	_ = json.Unmarshal(data, &table)
	known := map[string]reflect.Type{}
	fields(t, known)
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if field, ok := known[key]; ok {
			problems = append(problems, unknown(table[key], field, join(path, key))...)
			continue
		}
		problem := fmt.Sprintf("unknown key %q", join(path, key))
		names := slices.Sorted(maps.Keys(known))
		switch near := nearestKey(key, names); {
		case near != "":
			problem += fmt.Sprintf(", did you mean %q?", join(path, near))
		case len(known) > 0:
			problem += ", known are " + strings.Join(names, ", ")
		default:
			problem += ", there are no settings"
		}
		problems = append(problems, problem)
	}
	return problems
}

// nearestKey returns the one of keys that key was probably meant to be, or "".
// Capitals don't count.
func nearestKey(key string, keys []string) string {
	lower := make([]string, len(keys))
	for i, k := range keys {
		lower[i] = strings.ToLower(k)
	}
	if i := slices.Index(lower, nearest.Name(strings.ToLower(key), lower)); i >= 0 {
		return keys[i]
	}
	return ""
}

// fields collects what encoding/json fills in.
func fields(t reflect.Type, into map[string]reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			fields(inner, into)
		case !f.IsExported():
		case name == "":
			into[f.Name] = f.Type
		default:
			into[name] = f.Type
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
