// Package rawjson writes values as JSON and reads them again without changing a byte of their
// strings. Arguments, environments and paths may have any bytes, but a text of JSON is UTF-8:
// encoding/json replaces all else by U+FFFD, and a worker would be started again with another
// command than it had.
package rawjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// member is the member of a document that holds the strings that are not UTF-8, as bytes, each
// by the path to it, such as "/command/1". Readers that do not know it see U+FFFD in the strings.
const member = "raw_bytes"

// Marshal returns v as JSON. It differs from that of encoding/json only if a string in v is not
// UTF-8: v has to be a struct, or a pointer to one, then, and its object gets one more member. The
// error names such a string where [Unmarshal] could not restore it: in the key of a map, in an
// interface, or in a type that writes itself.
func Marshal(v any) ([]byte, error) { return marshal(v, json.Marshal) }

// MarshalIndent is Marshal with the layout of [json.MarshalIndent].
func MarshalIndent(v any, prefix, indent string) ([]byte, error) {
	return marshal(v, func(v any) ([]byte, error) { return json.MarshalIndent(v, prefix, indent) })
}

func marshal(v any, write func(any) ([]byte, error)) ([]byte, error) {
	b, err := write(v)
	// It writes U+FFFD itself as it is, and anything else that is not UTF-8 as this.
	if err != nil || !bytes.Contains(b, []byte(`\ufffd`)) {
		return b, err
	}
	w := walk{found: make(map[string][]byte)}
	if err := w.value(reflect.ValueOf(v), ""); err != nil {
		return nil, err
	}
	if len(w.found) == 0 {
		return b, nil
	}
	more, err := write(map[string]map[string][]byte{member: w.found})
	if err != nil {
		return nil, err
	}
	open, end := bytes.IndexByte(more, '{'), bytes.LastIndexByte(b, '}')
	if end < 0 || b[0] != '{' {
		return nil, fmt.Errorf("%T is not written as an object, and holds a text that is not UTF-8", v)
	}
	head := bytes.TrimRight(b[:end], " \n\t")
	comma := ","
	if bytes.HasSuffix(head, []byte("{")) {
		comma = ""
	}
	return slices.Concat(head, []byte(comma), more[open+1:]), nil
}

// Bytes returns the strings in v that are not UTF-8, by the paths that [Marshal] gives them; nil if
// there are none. It is for a document that is not Marshal's own, such as an element of an array.
// Strings that Marshal would refuse may be left out.
func Bytes(v any) map[string][]byte {
	w := walk{found: make(map[string][]byte)}
	_ = w.value(reflect.ValueOf(v), "")
	if len(w.found) == 0 {
		return nil
	}
	return w.found
}

// Unmarshal reads what Marshal wrote, and any other JSON as encoding/json does.
func Unmarshal(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return err
	}
	return Restore(b, v)
}

// Restore puts the strings that are not UTF-8 into v, which was read from b by encoding/json. An
// entry that fits no string of v is left out: a later version has changed the value.
func Restore(b []byte, v any) error {
	if !bytes.Contains(b, []byte(`"`+member+`"`)) {
		return nil
	}
	var had struct {
		Raw map[string][]byte `json:"raw_bytes"`
	}
	if err := json.Unmarshal(b, &had); err != nil || len(had.Raw) == 0 {
		return err
	}
	return (&walk{put: had.Raw}).value(reflect.ValueOf(v), "")
}

// walk visits the strings of a value by the paths that they have in its JSON.
type walk struct {
	// found collects the strings that are not UTF-8; put holds the strings to restore. One of
	// the two is nil.
	found, put map[string][]byte
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func (w *walk) value(v reflect.Value, path string) error {
	t := v.Type()
	if t.Kind() != reflect.Pointer && (t.Implements(marshaler) || t.Implements(textMarshaler) ||
		reflect.PointerTo(t).Implements(marshaler) || reflect.PointerTo(t).Implements(textMarshaler)) {
		return nil // it writes itself, as UTF-8
	}
	switch t.Kind() { //nolint:exhaustive // all other kinds hold no text
	case reflect.String:
		return w.text(v, path)
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return w.value(v.Elem(), path)
	case reflect.Interface:
		return w.opaque(v, path)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil // bytes are written in base 64
		}
		for i := range v.Len() {
			if err := w.value(v.Index(i), path+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return w.entries(v, path)
	case reflect.Struct:
		return w.fields(v, path)
	}
	return nil
}

func (w *walk) text(v reflect.Value, path string) error {
	if w.put == nil {
		if !utf8.ValidString(v.String()) {
			w.found[path] = []byte(v.String())
		}
		return nil
	}
	if b, ok := w.put[path]; ok && v.CanSet() {
		v.SetString(string(b))
	}
	return nil
}

func (w *walk) fields(v reflect.Value, path string) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := path
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case name != "":
			at += "/" + name
		case !f.Anonymous:
			at += "/" + f.Name
		}
		if err := w.value(v.Field(i), at); err != nil {
			return err
		}
	}
	return nil
}

// entries visits the values of a map, which are not addressable.
func (w *walk) entries(v reflect.Value, path string) error {
	for _, key := range v.MapKeys() {
		if key.Kind() == reflect.String && !utf8.ValidString(key.String()) {
			return fmt.Errorf("the key %q at %s is not UTF-8", key.String(), path)
		}
		at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(key.Interface()))
		if !w.touches(at) {
			continue
		}
		entry := reflect.New(v.Type().Elem()).Elem()
		entry.Set(v.MapIndex(key))
		if err := w.value(entry, at); err != nil {
			return err
		}
		if w.put != nil {
			v.SetMapIndex(key, entry)
		}
	}
	return nil
}

// touches reports whether there may be something to do at a path or below it.
func (w *walk) touches(path string) bool {
	if w.put == nil {
		return true
	}
	for at := range w.put {
		if at == path || strings.HasPrefix(at, path+"/") {
			return true
		}
	}
	return false
}

// opaque visits a value whose type a reader does not know. A pointer in it stays: the
// reader of a document that was written from one gives a pointer of its own.
func (w *walk) opaque(v reflect.Value, path string) error {
	if v.IsNil() || w.put != nil {
		return nil
	}
	before := len(w.found)
	if err := w.value(v.Elem(), path); err != nil {
		return err
	}
	if len(w.found) > before {
		return fmt.Errorf("the text at %s is not UTF-8", path)
	}
	return nil
}
