package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Of returns the schema of a struct. Its fields are named by their json tags; these further tags
// say more about a field:
//
//	help:"…"         what it is for, in a sentence
//	default:"…"      the value if it is missing; a list has commas between its elements
//	enum:"a,b"       the strings that it can be
//	min:"1" max:"9"  the bounds of a number
//	required:"true"  it must be given
//	secret:"true"    its value is never shown
//
// A field is a string, a boolean, a number, a list, a map with strings as keys, a struct, or a
// pointer to one of these. Fields of the type any, and of types that decode their JSON themselves,
// can have any value.
func Of(t reflect.Type) (*Schema, error) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("settings are a struct, not %v", t)
	}
	return of(t, t.Name(), 0)
}

// OfOptions is [Of] for options: their values are texts, so no option is a table, and since they are
// shown to everyone who sees the worker, they are not secret.
func OfOptions(t reflect.Type) (*Schema, error) {
	s, err := Of(t)
	if err != nil {
		return nil, err
	}
	for name, p := range s.Properties {
		item := p
		if p.Type == TypeArray && p.Items != nil {
			item = p.Items
		}
		switch {
		case p.Secret:
			return nil, fmt.Errorf("%s: options are shown with their worker, so a secret has to be a setting", name)
		case item.Type == TypeArray || item.Type == TypeObject || item.Type == "":
			return nil, fmt.Errorf("%s: an option is a string, a boolean, a number, or a list of these", name)
		}
	}
	return s, nil
}

func of(t reflect.Type, path string, depth int) (*Schema, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("%s: it is nested more than %d deep", path, MaxDepth)
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch pointer := reflect.PointerTo(t); {
	case pointer.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &Schema{}, nil
	case pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &Schema{Type: TypeString}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return &Schema{Type: TypeString}, nil
	case reflect.Bool:
		return &Schema{Type: TypeBoolean}, nil
	case reflect.Int, reflect.Int64:
		return &Schema{Type: TypeInteger}, nil
	case reflect.Int8, reflect.Int16, reflect.Int32:
		most := math.Pow(2, float64(t.Bits()-1))
		return &Schema{Type: TypeInteger, Minimum: new(-most), Maximum: new(most - 1)}, nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return &Schema{Type: TypeInteger, Minimum: new(0.0), Maximum: new(math.Pow(2, float64(t.Bits())) - 1)}, nil
	case reflect.Uint, reflect.Uint64:
		return &Schema{Type: TypeInteger, Minimum: new(0.0)}, nil
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: TypeNumber}, nil
	case reflect.Interface:
		return &Schema{}, nil
	case reflect.Slice, reflect.Array:
		items, err := of(t.Elem(), path, depth+1)
		return &Schema{Type: TypeArray, Items: items}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%s: the keys of a table are strings, not %v", path, t.Key())
		}
		values, err := of(t.Elem(), path, depth+1)
		return &Schema{Type: TypeObject, Values: values}, err
	case reflect.Struct:
		s := &Schema{Type: TypeObject, Properties: map[string]*Schema{}}
		return s, s.add(t, path, depth)
	default:
		return nil, fmt.Errorf("%s: a setting can't be a %v", path, t)
	}
}

// add adds the fields of a struct, as encoding/json finds them.
func (s *Schema) add(t reflect.Type, path string, depth int) error {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			if err := s.add(inner, path, depth); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		p, err := of(f.Type, join(path, name), depth+1)
		if err == nil {
			err = p.tag(f.Tag)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case !nameRegexp().MatchString(name):
			return fmt.Errorf("%q can't be the name of a setting", name)
		}
		s.Properties[name] = p
		if f.Tag.Get("required") == "true" {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}

// tag reads the tags of a field.
func (s *Schema) tag(tag reflect.StructTag) error {
	s.Description = tag.Get("help")
	s.Secret = tag.Get("secret") == "true"
	if words, ok := tag.Lookup("enum"); ok {
		if s.Type != TypeString {
			return fmt.Errorf("an enum is of strings, not of %s", s.Type)
		}
		s.Enum = strings.Split(words, ",")
	}
	for name, bound := range map[string]**float64{"min": &s.Minimum, "max": &s.Maximum} {
		text, ok := tag.Lookup(name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || s.Type != TypeInteger && s.Type != TypeNumber {
			return fmt.Errorf("%s:%q is not a bound of this %s", name, text, s.Type)
		}
		*bound = &n
	}
	text, ok := tag.Lookup("default")
	if !ok {
		return nil
	}
	value, ok := s.parse(text)
	if !ok || s.Type == "" || s.Type == TypeObject {
		return fmt.Errorf("default:%q is not %s", text, s.expected())
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	s.Default = data
	if value, err = readJSON(data); err != nil {
		return err
	}
	if problems := s.Check(value); len(problems) > 0 {
		return fmt.Errorf("its default %w", problems[0])
	}
	return nil
}
