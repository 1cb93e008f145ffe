package config

import (
	"testing"

	"github.com/BurntSushi/toml"
)

// seeds are documents with everything in them that could lead a scanner astray.
var seeds = []string{
	"", "a = 1", "a=1 # [b]\n#[c]\n[d]\n", "\r\n[ a . b ]\r\n\"c d\".'e=f' = 'x # y'\r\n",
	"a = [1, 2, # ]\n [3, '],'], ]\nb = 2\n",
	"a = { b = 1, 'c,d' = { e = [ { f = 1 }, { f = \"}\" } ] } }\ng = 1\n",
	"a = \"\"\"\n[no]\nb = 1\\\"\"\" \"\"\"\"\"\nc = 1\n",
	"a = '''\n[no] \\'''''\nc = 1\n",
	"[[x]]\na = 1979-05-27 07:32:00Z # c\n[[ x ]] # again\n[x.y]\nb = inf\n",
	"a = \"\"\nb = ''\nc = \"\\\\\"\nd = 1\n",
	"a = {\n b = 1, # }\n c = 2,\n}\nd = 1\n",
	"\"a\\\"]\" = 1\n[\"b]\\\"\"]\nc = 1\n",
}

func TestSpots(t *testing.T) {
	t.Parallel()
	for _, src := range seeds {
		checkSpots(t, src, true)
	}
}

// Every key of a valid document has its spot, at the first character of it.
func FuzzSpots(f *testing.F) {
	for _, src := range seeds {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) { checkSpots(t, src, false) })
}

func checkSpots(t *testing.T, src string, valid bool) {
	t.Helper()
	var root map[string]any
	meta, err := toml.Decode(src, &root)
	if err != nil {
		if valid {
			t.Errorf("%q is not TOML: %v", src, err)
		}
		return
	}
	found, over := spots(src)
	if over != nil {
		return // it is not handed to the library
	}
	if got, want := len(found), len(meta.Keys()); got != want {
		t.Fatalf("%q: %d spots, want %d for %v", src, got, want, meta.Keys())
	}
	for i, key := range meta.Keys() {
		first := joined(key)
		c := src[found[i].key]
		if c == '"' || c == '\'' {
			continue
		}
		// The header of a table begins with its first part, a pair with the first
		// part after its table's; one part of the key begins here in any case.
		if !startsPart(key, src[found[i].key:]) {
			t.Errorf("%q: the spot of %s is at %q", src, first, src[found[i].key:])
		}
	}
}

func startsPart(key toml.Key, src string) bool {
	for _, part := range key {
		if len(src) >= len(part) && src[:len(part)] == part {
			return true
		}
	}
	return false
}

func TestPosition(t *testing.T) {
	t.Parallel()
	src := "a\nüb\n"
	for at, want := range map[int]string{0: "f:1:1", 2: "f:2:1", 4: "f:2:2", 6: "f:3:1", 99: "f:3:1"} {
		if got := newSource("f", src).position(at).String(); got != want {
			t.Errorf("offset %d is at %s, want %s", at, got, want)
		}
	}
}
