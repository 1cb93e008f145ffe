package registry

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/rawjson"
)

// A row of workers, agents, shutdowns and tasks has a column for each field that a
// query needs, and one for a JSON document of all other fields. The method fields of
// each struct lists pointers in the order of its columns; they serve as the arguments
// of a statement and as the targets of a scan.

// document is the document of a row, which is scanned into the struct that of points
// to, and written from it.
type document struct{ of any }

// Scan fills in the fields that the document has.
func (d document) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("expected a JSON text, got %T", v)
	}
	return rawjson.Unmarshal([]byte(text), d.of)
}

// Value returns the document's text, in which every string keeps its bytes.
func (d document) Value() (driver.Value, error) {
	b, err := rawjson.Marshal(d.of)
	return string(b), err
}

// optional is a JSON text in a column, which is empty for nil and for an empty list.
type optional[T any] struct {
	of *T
	// lenient takes a text that can't be read for an empty one.
	lenient bool
}

func (o optional[T]) Scan(v any) error {
	if v == "" || v == "[]" {
		return nil
	}
	err := document{o.of}.Scan(v)
	if err != nil && o.lenient {
		*o.of, err = *new(T), nil
	}
	return err
}

func (o optional[T]) Value() (driver.Value, error) {
	text, err := document{o.of}.Value()
	if text == "null" || text == "[]" {
		text = ""
	}
	return text, err
}

// stamp is a time in a column: Unix nanoseconds, 0 for the zero time.
type stamp time.Time

func (s *stamp) Scan(v any) error {
	ns, ok := v.(int64)
	if !ok {
		return fmt.Errorf("expected Unix nanoseconds, got %T", v)
	}
	*s = stamp(when(ns))
	return nil
}

func (s *stamp) Value() (driver.Value, error) { return nanos(time.Time(*s)), nil }

func when(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
