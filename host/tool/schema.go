package tool

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// derive returns the schema of a type of this package.
func derive(t reflect.Type) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Timestamp](): {Type: "string", Format: "date-time"},
	}})
	if err != nil {
		panic(err) // a type of this package, which a test has derived
	}
	return s
}
