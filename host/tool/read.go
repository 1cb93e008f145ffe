package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/shared/nearest"
)

// maxWhole is the greatest whole number that JSON carries everywhere.
const maxWhole = 1<<53 - 1

// read decodes a JSON object into v, with the defaults of its schema. If fields do not fit
// the schema, the error is an [InputError] that names all of them; the other fields are in
// v all the same.
//
// The schemas of inputs use only a few keywords, so they are checked here, with messages
// that help to correct the input. A test compares the result with a validator of JSON
// Schema.
func read(s *jsonschema.Schema, raw json.RawMessage, v any) error {
	value, err := parse(raw)
	if err != nil {
		return &InputError{[]Problem{{Text: "not JSON: " + err.Error()}}}
	}
	var r inputCheck
	if value, ok := r.value(s, "", value); ok {
		fit, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(fit, v)
		}
		if err != nil {
			return err
		}
	}
	if r.problems != nil {
		return &InputError{r.problems}
	}
	return nil
}

func parse(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("unexpected end")
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected data after the value")
	}
	return value, nil
}

const isRequired = "is required"

type inputCheck struct{ problems []Problem }

func (r *inputCheck) problem(path, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

// value returns what of value fits s; ok is false if nothing does.
func (r *inputCheck) value(s *jsonschema.Schema, path string, value any) (fit any, ok bool) {
	switch s.Type {
	case "object":
		return r.object(s, path, value)
	case "array":
		return r.array(s, path, value)
	case "string":
		return r.text(s, path, value)
	case "integer":
		return r.whole(s, path, value)
	default:
		b, ok := value.(bool)
		if !ok {
			r.problem(path, "must be true or false")
		}
		return b, ok
	}
}

func (r *inputCheck) object(s *jsonschema.Schema, path string, value any) (any, bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		r.problem(path, "must be an object")
		return nil, false
	}
	fit := make(map[string]any)
	for _, name := range s.PropertyOrder {
		property := s.Properties[name]
		field, given := fields[name]
		switch {
		case given:
			if v, ok := r.value(property, join(path, name), field); ok {
				fit[name] = v
				continue
			}
		case slices.Contains(s.Required, name):
			r.problem(join(path, name), isRequired)
		}
		if property.Default != nil {
			fit[name] = property.Default
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if s.Properties[name] == nil {
			r.unknown(s, path, name)
		}
	}
	return fit, true
}

func (r *inputCheck) unknown(s *jsonschema.Schema, path, name string) {
	known := "known fields: " + strings.Join(s.PropertyOrder, ", ")
	if near := nearest.Field(name, s.PropertyOrder); near != "" {
		known = "did you mean " + near + "?"
	}
	r.problem(join(path, capped(name, 40)), "unknown field (%s)", known)
}

func (r *inputCheck) array(s *jsonschema.Schema, path string, value any) (any, bool) {
	items, ok := value.([]any)
	if !ok {
		r.problem(path, "must be an array")
		return nil, false
	}
	if s.MinItems != nil && len(items) < *s.MinItems {
		r.problem(path, "must not be empty")
		return nil, false
	}
	before := len(r.problems)
	fit := make([]any, len(items))
	for i, item := range items {
		fit[i], _ = r.value(s.Items, fmt.Sprintf("%s[%d]", path, i), item)
	}
	return fit, len(r.problems) == before
}

func (r *inputCheck) text(s *jsonschema.Schema, path string, value any) (any, bool) {
	text, ok := value.(string)
	switch {
	case !ok && s.Enum == nil:
		r.problem(path, "must be text")
	case s.Enum != nil && !slices.Contains(s.Enum, value):
		r.problem(path, "must be one of %s", list(s.Enum))
	case s.MinLength != nil && len(text) < *s.MinLength:
		// All minimum lengths are 1, so the unit does not matter.
		r.problem(path, "must not be empty")
	default:
		return text, true
	}
	return nil, false
}

// whole takes 5000, 5e3 and 5000.0 for the same, as JSON does.
func (r *inputCheck) whole(s *jsonschema.Schema, path string, value any) (any, bool) {
	number, ok := value.(json.Number)
	if !ok {
		r.problem(path, "must be a whole number")
		return nil, false
	}
	f, err := strconv.ParseFloat(number.String(), 64)
	switch {
	case err != nil || math.Abs(f) > maxWhole:
		r.problem(path, "must be a whole number of at most %d", maxWhole)
	case f != math.Trunc(f):
		r.problem(path, "must be a whole number")
	case s.ExclusiveMinimum != nil && f <= *s.ExclusiveMinimum:
		r.problem(path, "must be greater than %v", *s.ExclusiveMinimum)
	default:
		return int64(f), true
	}
	return nil, false
}

func list(words []any) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = fmt.Sprint(word)
	}
	return strings.Join(texts, ", ")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func capped(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "…"
}

var errNoCommand = errors.New("no command for the agent: neither command nor [team] agent_command of the config is set")

// InputError holds all mistakes of an input. Nothing was touched.
type InputError struct{ Problems []Problem }

// Problem is one thing that is wrong with an input.
type Problem struct {
	// Path is the field, such as "signal" or "command[0]"; empty for the whole.
	Path string
	// Text says what it must be.
	Text string
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

func (e *InputError) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = p.String()
	}
	return "invalid input: " + strings.Join(texts, "; ")
}

func invalid(path, text string) error {
	return &InputError{Problems: []Problem{{Path: path, Text: text}}}
}
