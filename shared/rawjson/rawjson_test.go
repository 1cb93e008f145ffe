package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Path string `json:"path,omitempty"`
	Any  any    `json:"any,omitempty"`
}

type Embedded struct {
	Command []string `json:"command"`
	ID      string   `json:"id"`
}

type outer struct {
	Embedded
	Env     []string          `json:"env,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Deep    map[string]inner  `json:"deep,omitempty"`
	Inner   *inner            `json:"inner,omitempty"`
	Next    *outer            `json:"next,omitempty"`
	Data    []byte            `json:"data,omitempty"`
	At      time.Time         `json:"at,omitzero"`
	Hidden  string            `json:"-"`
	NoTag   string
	secret  string //nolint:unused // it is not written
}

const odd = "f\xe9\xff\x00/~\"\xc3"

func sample(text string) outer {
	return outer{
		Embedded: Embedded{Command: []string{"cat", text, "é", "\ufffd"}, ID: "i"},
		Env:      []string{"A=" + text, text + "=x"},
		Options:  map[string]string{"a/b~c": text, "plain": "x"},
		Deep:     map[string]inner{"k": {Path: text}},
		Inner:    &inner{Path: text},
		Next:     &outer{NoTag: text, Inner: &inner{Path: "/" + text}},
		Data:     []byte(text),
		At:       time.Unix(5, 0).UTC(),
		NoTag:    text,
	}
}

// TestEveryByte: each string comes back byte by byte, wherever it is in a value.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	for _, text := range []string{odd, string(all), "\xff", "\xed\xa0\x80", strings.Repeat("\x80", 5000)} {
		for name, write := range map[string]func(any) ([]byte, error){
			"Marshal": Marshal,
			"MarshalIndent": func(v any) ([]byte, error) {
				return MarshalIndent(v, "", "  ")
			},
		} {
			before := sample(text)
			b, err := write(before)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(b) {
				t.Fatalf("%s: not JSON: %s", name, b)
			}
			var after outer
			if err := Unmarshal(b, &after); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, after, cmp.AllowUnexported(outer{})); diff != "" {
				t.Errorf("%s of %q: %s", name, text, diff)
			}
		}
	}
}

// TestOrdinary: a value without such strings is written as encoding/json does, a text that looks
// like an escape included.
func TestOrdinary(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", "é", "\ufffd", `\ufffd`, "", `"raw_bytes":{`} {
		want, err := json.Marshal(sample(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Marshal(sample(text))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
		var after outer
		if err := Unmarshal(got, &after); err != nil || after.NoTag != text {
			t.Errorf("%q: %q, %v", text, after.NoTag, err)
		}
	}
}

// TestRefused: what can't be restored is an error, never another text.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"a key":            outer{Options: map[string]string{odd: "x"}},
		"an interface":     outer{Inner: &inner{Any: odd}},
		"below interfaces": outer{Inner: &inner{Any: map[string]any{"a": []any{odd}}}},
		"no object":        []string{odd},
		"a text":           odd,
	} {
		if b, err := Marshal(v); err == nil {
			t.Errorf("%s: written as %s", name, b)
		}
	}
}

// TestForeign: entries for what a value does not have are ignored, and damaged ones are errors.
func TestForeign(t *testing.T) {
	t.Parallel()
	var v outer
	err := Unmarshal([]byte(`{"command":["a"],"raw_bytes":{"/command/7":"/w==","/at":"/w==","/none":"/w==","/Hidden":"/w==","/command":"/w=="}}`), &v)
	if err != nil || len(v.Command) != 1 || v.Command[0] != "a" || v.Hidden != "" {
		t.Errorf("%+v, %v", v, err)
	}
	if err := Unmarshal([]byte(`{"raw_bytes":{"/id":"!"}}`), &v); err == nil {
		t.Error("a damaged entry gives no error")
	}
}
