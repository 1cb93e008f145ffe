package toolschema

import (
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestRefused(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{`:                               "not JSON",
		`{"type": "array"}`:               `"object"`,
		`{}`:                              `"object"`,
		`{"type": "object", "$ref": "#"}`: "reference ($ref)",
		`{"type": "object", "allOf": [{"$dynamicRef": "#a"}]}`:                                                 "reference ($dynamicRef)",
		`{"type": "object", "properties": {"a": {"type": "x("}, "b": 3}}`:                                      "",
		`{"type": "object", "patternProperties": {"(": {}}}`:                                                   "",
		`{"type": "object", "not": ` + strings.Repeat(`{"not": `, 100) + `{}` + strings.Repeat("}", 100) + `}`: "nested",
		`{"type": "object", "title": "` + strings.Repeat("x", swarm.MaxToolSchema) + `"}`:                      "bytes",
	} {
		_, err := ReadInput(swarm.Tool{Input: []byte(schema)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "input schema: ") {
			t.Errorf("%.80s: %v, want %q", schema, err, want)
		}
	}
	// A field may have the name of a reference.
	if _, err := ReadOutput(swarm.Tool{Output: []byte(`{"type": "object", "properties": {"$ref": {"type": "string"}}}`)}); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s, err := ReadInput(swarm.Tool{Input: []byte(`{"type": "object", "required": ["city"], "additionalProperties": false,
		"properties": {"city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "maximum": 7}, "units": {"enum": ["c", "f"]},
			"tags": {"type": "array", "items": {"type": "string"}},
			"at": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {"lat": {}, "lon": {}}}}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string]string{
		`{"city": "Oslo", "days": 3, "tags": ["a"]}`: "",

		`{}`:                            "city",
		`{"city": ""}`:                  "city: ",
		`{"city": "Oslo", "days": "3"}`: "days: ",
		`{"city": "Oslo", "days": 8}`:   "days: ",
		`{"city": "Oslo", "tags": [5]}`: "tags[]: ",
		`{"city": "Oslo", "town": 1}`:   "town: unknown field (known fields: at, city, days, tags, units)",
		`{"cty": "Oslo"}`:               "cty: unknown field (did you mean city?)",

		`{"city": "Oslo", "at": [{"lat": 1, "lo": 2}]}`: "at[].lo: unknown field (did you mean lon?)",

		`{"city": "Oslo", "units": "k"}`: "units: ",
		`[]`:                             "JSON object",
		`null`:                           "JSON object",
		``:                               "unexpected end",
		`{"city": "Oslo"} x`:             "after the value",
		`{"city": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "nested",
	} {
		err := s.Check([]byte(input))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", input, err, want)
		}
		if err != nil {
			t.Logf("%.60s: %v", input, err)
			if strings.Contains(err.Error(), "validating") {
				t.Errorf("%.60s: the words of the validator: %v", input, err)
			}
		}
	}
	empty, err := ReadInput(swarm.Tool{})
	if err != nil || empty.Check([]byte(`{}`)) != nil || empty.Check([]byte(`{"a": 1}`)) == nil {
		t.Errorf("without a schema: %v", err)
	}
}
