package jsonc

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

var swarm = server{"swarm", []string{"mcp"}}

const added = `"swarm": {
      "command": "swarm",
      "args": [
        "mcp"
      ]
    }`

// TestSetAndRemove adds a member, and takes it out again with an undo and without.
func TestSetAndRemove(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, after, removed string }{
		{"empty", "", "{\n  \"mcp\": {\n    " + added + "\n  }\n}\n", "{}\n"},
		{"empty object", "{}\n", "{\n  \"mcp\": {\n    " + added + "\n  }\n}\n", ""},
		{"empty table", "{\n  \"mcp\": {}\n}\n", "{\n  \"mcp\": {\n    " + added + "\n  }\n}\n", "{}\n"},
		{
			"another server", "{\n  \"mcp\": {\n    \"x\": {}\n  },\n  \"y\": 1\n}\n",
			"{\n  \"mcp\": {\n    \"x\": {},\n    " + added + "\n  },\n  \"y\": 1\n}\n", "",
		},
		{
			"comments", "// top\n{\n  \"mcp\": { // servers\n    /* one */ \"x\": {} // x\n    // end\n  }\n}",
			"// top\n{\n  \"mcp\": { // servers\n    /* one */ \"x\": {}, // x\n    " + added + "\n    // end\n  }\n}", "",
		},
		{
			"comments that begin like their end", "/*/ top /*/\n{\n  \"mcp\": { /*/ { */\n    \"x\": {} /*/ x */ /**/ /***/\n    /*/*/\n  }\n}",
			"/*/ top /*/\n{\n  \"mcp\": { /*/ { */\n    \"x\": {}, /*/ x */ /**/ /***/\n    " + added + "\n    /*/*/\n  }\n}", "",
		},
		{
			"trailing comma", "{\n  \"mcp\": {\n    \"x\": {}, // x\n  },\n}\n",
			"{\n  \"mcp\": {\n    \"x\": {}, // x\n    " + added + ",\n  },\n}\n", "",
		},
		{"one line", `{"mcp":{"x":{}}}`, `{"mcp":{"x":{}, "swarm": {"command":"swarm","args":["mcp"]}}}`, ""},
		{
			"tabs", "{\n\t\"y\": 1\n}\n",
			"{\n\t\"y\": 1,\n\t\"mcp\": {\n\t\t\"swarm\": {\n\t\t\t\"command\": \"swarm\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t}\n\t}\n}\n", "",
		},
		{
			"CRLF", "{\r\n  \"mcp\": {\r\n    \"x\": {}\r\n  }\r\n}\r\n",
			strings.ReplaceAll("{\n  \"mcp\": {\n    \"x\": {},\n    "+added+"\n  }\n}\n", "\n", "\r\n"), "",
		},
		{"only comments", "{\n  // nothing yet\n}\n", "{\n  \"mcp\": {\n    " + added + "\n  }\n  // nothing yet\n}\n", ""},
		{
			"a comment that is not text, and one that the file ends in", "{\n  \"y\": 1 // \u2028 \xff\n}\n// end",
			"{\n  \"y\": 1, // \u2028 \xff\n  \"mcp\": {\n    " + added + "\n  }\n}\n// end", "",
		},
		{"byte order mark", "\ufeff{\n  \"y\": 1\n}\n", "\ufeff{\n  \"y\": 1,\n  \"mcp\": {\n    " + added + "\n  }\n}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := Document{Text: tt.before}
			if err := d.Set(swarm, "mcp", "swarm"); err != nil {
				t.Fatal(err)
			}
			if d.Text != tt.after {
				t.Errorf("after:\n%s\nwant:\n%s", d.Text, tt.after)
			}
			n := len(d.Edits)
			if err := d.Set(swarm, "mcp", "swarm"); err != nil || len(d.Edits) != n {
				t.Errorf("again: %v, %q", err, d.Text)
			}
			text := d.Text
			for _, e := range slices.Backward(d.Edits) {
				var ok bool
				if text, ok = e.Undo(text); !ok {
					t.Fatalf("%+v can't be undone", e)
				}
			}
			if text != tt.before {
				t.Errorf("undone: %q, want %q", text, tt.before)
			}
			if err := d.Remove("mcp", "swarm"); err != nil {
				t.Fatal(err)
			}
			want := tt.removed
			if want == "" {
				want = tt.before
			}
			if d.Text != want {
				t.Errorf("removed: %q, want %q", d.Text, want)
			}
			if err := d.Remove("mcp", "swarm"); err != nil || d.Text != want {
				t.Errorf("removed again: %v, %q", err, d.Text)
			}
		})
	}
}

func TestSetReplaces(t *testing.T) {
	t.Parallel()
	d := Document{Text: "{\n  \"a\": {\n    \"b\": [1, 2], // b\n    \"c\": 3\n  }\n}\n"}
	if err := d.Set("new", "a", "b"); err != nil || d.Text != "{\n  \"a\": {\n    \"b\": \"new\", // b\n    \"c\": 3\n  }\n}\n" {
		t.Errorf("%v, %s", err, d.Text)
	}
	if err := d.Remove("a", "b"); err != nil || !strings.Contains(d.Text, `"c": 3`) || strings.Contains(d.Text, `"b"`) {
		t.Errorf("%v, %s", err, d.Text)
	}
	var wrong *SyntaxError
	if err := d.Set(1, "a", "c", "d"); !errors.As(err, &wrong) || wrong.Error() != "3:10: expected an object as the value of 'a.c'" && wrong.Line != 3 && wrong.Line != 4 {
		t.Errorf("not an object: %v", err)
	}
	if err := d.Append(1, "a", "c"); !errors.As(err, &wrong) {
		t.Errorf("not an array: %v", err)
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	ours := func(v *Value) bool {
		var s string
		return v.Decode(&s) == nil && strings.HasPrefix(s, "swarm")
	}
	for _, tt := range []struct{ name, before, after, removed string }{
		{"no array", "{\n}\n", "{\n  \"hooks\": {\n    \"Stop\": [\n      \"swarm\"\n    ]\n  }\n}\n", "{}\n"},
		{"theirs", "{\"hooks\": {\"Stop\": [\n  \"x\" // x\n]}}", "{\"hooks\": {\"Stop\": [\n  \"x\", // x\n  \"swarm\"\n]}}", ""},
		{"one line", "{\"hooks\": {\"Stop\": [\"x\"]}}", "{\"hooks\": {\"Stop\": [\"x\", \"swarm\"]}}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := Document{Text: tt.before}
			if err := d.Append("swarm", "hooks", "Stop"); err != nil || d.Text != tt.after {
				t.Errorf("%v, after: %q, want %q", err, d.Text, tt.after)
			}
			if err := d.RemoveElements(ours, "hooks", "Stop"); err != nil {
				t.Fatal(err)
			}
			want := tt.removed
			if want == "" {
				want = tt.before
			}
			if d.Text != want {
				t.Errorf("removed: %q, want %q", d.Text, want)
			}
		})
	}
	d := Document{Text: `["swarm a", "x", "swarm b", "y", "swarm c"]`}
	if err := d.RemoveElements(ours); err != nil || d.Text != `["x", "y"]` {
		t.Errorf("%v, %s", err, d.Text)
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n  \"a\": 1\n  \"b\": 2\n}": "3:3: expected ',' or '}'",
		"{\"a\": }":                    "1:7: expected a value",
		"{a: 1}":                       "1:2: expected a key in double quotes",
		"{\"a\": 1":                    "1:8: expected ',' or '}'",
		"{\"é\": tru}":                 "1:7: expected a value",
		"{} x":                         "1:4: expected the end of the file",
		"{\"a\": \"b\n\"}":             "1:7: this string has no end",
		"{ /* x":                       "1:3: this comment has no end",
		"{ /*/ }":                      "1:3: this comment has no end",
		"":                             "1:1: expected a value",
		strings.Repeat("[", 1000):      "1:202: nested too deep",
		"{\"a\" 1}":                    "1:6: expected ':'",
		"{\"a\": 01}":                  "1:7: expected a value",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// FuzzEdit edits any text: what is not edited has the same value before and after.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		"", "{}", "{\n  \"mcp\": {\"x\": 1}, // c\n}", `{"mcp":{"swarm":1,"x":[1,2,{}]}}`, "/**/{\"mcp\":[]}", "[1,]", "{\"mcp\":{\"swarm\":2,},}",
		"{\"hooks\": {\"Stop\": [1, /* a */ \"swarm\" /* b */, 2]}}", "{,}", "{\"a\":1,\"a\":2}",
	} {
		f.Add(text)
	}
	ours := func(v *Value) bool { var s string; return v.Decode(&s) == nil && s == "swarm" }
	f.Fuzz(func(t *testing.T, text string) {
		before, err := decode(text)
		if err != nil && strings.TrimSpace(text) != "" {
			return
		}
		d := Document{Text: text}
		if d.Set(swarm, "mcp", "swarm") != nil || d.Append("swarm", "hooks", "Stop") != nil {
			return
		}
		after, err := decode(d.Text)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, d.Text, err)
		}
		if v, _ := Parse(d.Text); v.At("mcp", "swarm", "command") == nil || !slices.ContainsFunc(v.At("hooks", "Stop").Elements, func(v Value) bool { return ours(&v) }) {
			t.Fatalf("%q became %q", text, d.Text)
		}
		_ = after
		undone := d.Text
		for _, e := range slices.Backward(d.Edits) {
			undone, _ = e.Undo(undone)
		}
		if undone != text {
			t.Fatalf("%q undone is %q", text, undone)
		}
		if err := errors.Join(d.Remove("mcp", "swarm"), d.RemoveElements(ours, "hooks", "Stop")); err != nil {
			t.Fatalf("%q: %v", d.Text, err)
		}
		got, err := decode(d.Text)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, d.Text, err)
		}
		if strip(before) != strip(got) && !strings.Contains(text, "swarm") && !repeats(text) {
			t.Fatalf("%q became %q", text, d.Text)
		}
	})
}

func decode(text string) (any, error) {
	v, err := Parse(text)
	if err != nil {
		return nil, err
	}
	var out any
	return out, v.Decode(&out)
}

// strip encodes a value without the tables that may go when they are empty.
func strip(v any) string {
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"mcp", "hooks"} {
			if h, ok := m[key].(map[string]any); ok && reflect.DeepEqual(h["Stop"], []any{}) {
				delete(h, "Stop")
			}
			if e, ok := m[key].(map[string]any); ok && len(e) == 0 {
				delete(m, key)
			}
		}
		if len(m) == 0 {
			return "{}"
		}
	}
	if v == nil {
		return "{}"
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// repeats reports whether a key is there twice.
func repeats(text string) bool {
	v, err := Parse(text)
	var look func(v Value) bool
	look = func(v Value) bool {
		seen := map[string]bool{}
		for _, m := range v.Members {
			if seen[m.Key] || look(m.Value) {
				return true
			}
			seen[m.Key] = true
		}
		return slices.ContainsFunc(v.Elements, look)
	}
	return err == nil && look(v)
}
