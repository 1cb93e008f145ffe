package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/shared/humane"
)

// derive returns the schema of a type of this package. The schema tag of a field holds,
// separated by commas, the rules that a Go type can't express:
//
//	default=V    what an omitted field is; it is not required then
//	enum=A|B     the only values
//	min=N        the least length of a string or an array, the least number
//	over=N       it must be greater
//	number       any number in the schema, though the field is an integer
func derive(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[humane.Timestamp](): {Type: "string", Format: "date-time"},
	}})
	if err == nil {
		err = refine(s, t)
	}
	if err != nil {
		// Only a type of this package can be wrong, and a test derives all of them.
		panic(fmt.Sprintf("schema of %s: %v", t, err))
	}
	return s
}

// refine adds the tags of t to s. Nothing in an answer is null: a nil pointer is left out,
// and a nil slice is empty.
func refine(s *jsonschema.Schema, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	switch {
	case t.Kind() == reflect.Slice:
		return refine(s.Items, t.Elem())
	case t.Kind() == reflect.Struct && s.Properties != nil:
		return refineFields(s, t)
	default:
		return nil
	}
}

func refineFields(s *jsonschema.Schema, t reflect.Type) error {
	required := s.Required
	s.Required = nil
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property, ok := s.Properties[name]
		if !ok {
			continue
		}
		err := refine(property, field.Type)
		if err == nil {
			err = applyTag(property, field.Tag.Get("schema"))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if property.Default == nil && slices.Contains(required, name) {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}

func applyTag(s *jsonschema.Schema, tag string) error {
	if tag == "" {
		return nil
	}
	for part := range strings.SplitSeq(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		if err := applyKey(s, key, value); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

func applyKey(s *jsonschema.Schema, key, value string) error {
	switch key {
	case "default":
		s.Default = json.RawMessage(value)
		if s.Type == "string" {
			s.Default = json.RawMessage(strconv.Quote(value))
		}
		if !json.Valid(s.Default) {
			return fmt.Errorf("not a value of type %s", s.Type)
		}
	case "enum":
		for word := range strings.SplitSeq(value, "|") {
			s.Enum = append(s.Enum, word)
		}
	case "number":
		s.Type = "number"
	case "min", "over":
		n, err := strconv.Atoi(value)
		if err != nil {
			return err
		}
		setBound(s, key, n)
	default:
		return errors.New("unknown key")
	}
	return nil
}

func setBound(s *jsonschema.Schema, key string, n int) {
	number := float64(n)
	switch {
	case key == "over":
		s.ExclusiveMinimum = &number
	case s.Type == "string":
		s.MinLength = &n
	case s.Type == "array":
		s.MinItems = &n
	default:
		s.Minimum = &number
	}
}
