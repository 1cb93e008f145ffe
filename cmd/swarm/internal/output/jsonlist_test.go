package output

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A list that is printed element by element is byte by byte the one that is printed at once.
func TestJSONList(t *testing.T) {
	t.Parallel()
	type element struct {
		Name string         `json:"name"`
		Tags []string       `json:"tags"`
		More map[string]int `json:"more"`
	}
	for n := range 4 {
		elements := []element{
			{"a<b>", []string{"x", "y"}, map[string]int{"k": 1}},
			{"\x1b[31m\u202e", []string{}, nil},
			{strings.Repeat("long ", jsonFlushAt/5), nil, map[string]int{}},
		}[:n]
		var at, by bytes.Buffer
		once := Printer{Out: &Stream{W: &at}}
		if err := once.PrintJSON(elements); err != nil {
			t.Fatal(err)
		}
		list := JSONList{Printer: Printer{Out: &Stream{W: &by}}}
		for _, e := range elements {
			if err := list.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := list.End(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(at.String(), by.String()); diff != "" {
			t.Errorf("%d elements (-at once +by element):\n%s", n, diff)
		}
	}
}
