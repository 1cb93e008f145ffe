package plugin

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/swarmhost/swarm/shared/schema"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Schema describes the settings of a plugin, or the options of its workers or workspaces. Its zero
// value says that there are none.
type Schema struct{ of reflect.Type }

// SchemaOf returns the schema of the struct T. Its fields are named by their json tags; these
// further tags say more about a field:
//
//	help:"…"         what it is for, in a sentence
//	default:"…"      the value if it is missing; a list has commas between its elements
//	enum:"a,b"       the strings that it can be
//	min:"1" max:"9"  the bounds of a number
//	required:"true"  it must be given
//	secret:"true"    its value is never shown; options can't be secret
//
// A field is a string, a boolean, a number, a list, a map with strings as keys, a struct, or a
// pointer to one of these; as an option, whose value is a text, it is one of the first three or a
// list of them. A field of the type any, or of a type that decodes its JSON itself, is a setting of
// any value. [Serve] reports a struct or a tag that does not fit.
//
// A user sees what is said here in 'swarm plugin info' and 'swarm plugin docs', when options are
// completed, and in the mistakes that 'swarm config check' finds.
func SchemaOf[T any]() Schema { return Schema{reflect.TypeFor[T]()} }

// none describes settings or options of which there are none.
type none struct{}

func (s Schema) read(of func(reflect.Type) (*schema.Schema, error)) (*schema.Schema, error) {
	if s.of == nil {
		return of(reflect.TypeFor[none]())
	}
	return of(s.of)
}

// Decode decodes the settings into the struct that into points to, which is that of
// [Options.Settings]. A setting that is missing gets the default of its tag; without a default, its
// field is left unchanged. An unknown key and a value that does not fit are [swarm.ErrInvalidConfig]
// that names the key, and the one that was probably meant.
func (c Config) Decode(into any) error {
	if t := reflect.TypeOf(into); c.served != nil && t != nil && t.Kind() == reflect.Pointer && t.Elem() != c.served.of {
		// The plugin would announce another struct than it decodes.
		return fmt.Errorf("settings are decoded into %v: Options.Settings has to be plugin.SchemaOf[%v]()", t, t.Elem())
	}
	return kindOf(schema.Decode(c.json, into), swarm.ErrInvalidConfig)
}

// DecodeOptions decodes the options of a worker or a workspace ([swarm.Spec.Options]) into the
// struct that into points to, which is that of [Options.SpecOptions]. An option that is missing gets
// the default of its tag; without a default, its field is left unchanged. An unknown option and a
// value that does not fit are [swarm.ErrInvalidSpec] that names the option, and the one that was
// probably meant.
func DecodeOptions(options map[string]string, into any) error {
	return kindOf(schema.DecodeOptions(options, into), swarm.ErrInvalidSpec)
}

// kindOf returns the error of a decoder as one of kind, unless it is a mistake of the program.
func kindOf(err, kind error) error {
	if _, ok := errors.AsType[schema.Problems](err); ok {
		return fmt.Errorf("%w: %w", kind, err)
	}
	return err
}
