package rundir

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// field is one field of a record T, written as "key=value". A record is written in
// the order of its table of fields.
type field[T any] struct {
	key string
	// values returns the written entries, none if the field is left out.
	values func(*T) []string
	// set takes one value that was read and reports whether it is valid.
	set func(r *T, value string) bool
}

// textField is any text.
func textField[T any](key string, at func(*T) *string) field[T] {
	return valueField(key,
		func(r *T) string { return *at(r) },
		func(r *T, value string) bool { *at(r) = value; return true })
}

// wordField is a text that is not empty and, if there are words, one of them.
func wordField[T any](key string, at func(*T) *string, words ...string) field[T] {
	return valueField(key,
		func(r *T) string { return *at(r) },
		func(r *T, value string) bool {
			*at(r) = value
			return slices.Contains(words, value) || len(words) == 0 && value != ""
		})
}

// listField has any number of texts.
func listField[T any](key string, at func(*T) *[]string) field[T] {
	return field[T]{
		key:    key,
		values: func(r *T) []string { return *at(r) },
		set:    func(r *T, value string) bool { *at(r) = append(*at(r), value); return true },
	}
}

// choiceField is a flag, written as one of two words.
func choiceField[T any](key string, at func(*T) *bool, no, yes string) field[T] {
	return valueField(key,
		func(r *T) string {
			if *at(r) {
				return yes
			}
			return no
		},
		func(r *T, value string) bool { *at(r) = value == yes; return value == yes || value == no })
}

// flagField is a flag, written as 0 or 1.
func flagField[T any](key string, at func(*T) *bool) field[T] { return choiceField(key, at, "0", "1") }

// numberField is a number from least to most.
func numberField[T any, N int | int64](key string, at func(*T) *N, least, most int64) field[T] {
	return valueField(key,
		func(r *T) string { return strconv.FormatInt(int64(*at(r)), 10) },
		func(r *T, value string) bool {
			n, err := strconv.ParseInt(value, 10, 64)
			*at(r) = N(n)
			return err == nil && n >= least && n <= most
		})
}

// parsedField is a value that text formats and parse reads.
func parsedField[T, V any](key string, at func(*T) *V, text func(V) string, parse func(string) (V, bool)) field[T] {
	return valueField(key,
		func(r *T) string { return text(*at(r)) },
		func(r *T, value string) (ok bool) {
			*at(r), ok = parse(value)
			return ok
		})
}

// valueField is written as one text, even if that is empty.
func valueField[T any](key string, value func(*T) string, set func(*T, string) bool) field[T] {
	return field[T]{key: key, values: func(r *T) []string { return []string{value(r)} }, set: set}
}

// optional leaves the field out if its value equals none. A field that is added to a record
// must be optional: a shim that does not know it can then read the other records.
func optional[T any](none string, f field[T]) field[T] {
	values := f.values
	f.values = func(r *T) []string {
		vs := values(r)
		if len(vs) == 1 && vs[0] == none {
			return nil
		}
		return vs
	}
	return f
}

// setField gives one value to the field of that name. known reports whether there is
// one.
func setField[T any](fields []field[T], r *T, key, value string) (known, ok bool) {
	for _, f := range fields {
		if f.key == key {
			return true, f.set(r, value)
		}
	}
	return false, false
}

// encodeFields returns a record as a message: its version and its entries, each ended by NUL, and
// "end=" as the last one.
func encodeFields[T any](version string, fields []field[T], r *T) ([]byte, error) {
	b := []byte(version + "\x00")
	for _, f := range fields {
		for _, value := range f.values(r) {
			if strings.IndexByte(value, 0) >= 0 {
				return nil, errors.New("a zero byte in the command, its directory or its environment")
			}
			b = append(b, f.key...)
			b = append(b, '=')
			b = append(b, value...)
			b = append(b, 0)
		}
	}
	return append(b, "end=\x00"...), nil
}

// decodeFields reads what encodeFields wrote, and reports whether it is whole.
func decodeFields[T any](b []byte, version string, fields []field[T], r *T) bool {
	rest, ok := bytes.CutPrefix(b, []byte(version+"\x00"))
	for ok && len(rest) > 0 {
		entry, after, ended := bytes.Cut(rest, []byte{0})
		key, value, isEntry := strings.Cut(string(entry), "=")
		switch {
		case !ended || !isEntry:
			return false
		case key == "end":
			return len(after) == 0
		}
		if _, ok = setField(fields, r, key, value); !ok {
			return false
		}
		rest = after
	}
	return false
}
