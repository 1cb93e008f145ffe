package tomlscan

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

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, src := range seeds {
		check(t, src, true)
	}
}

// Every key of a valid document has its spot, at the first character of it.
func FuzzKeys(f *testing.F) {
	for _, src := range seeds {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) { check(t, src, false) })
}

func check(t *testing.T, src string, valid bool) {
	t.Helper()
	var root map[string]any
	meta, err := toml.Decode(src, &root)
	if err != nil {
		if valid {
			t.Errorf("%q is not TOML: %v", src, err)
		}
		return
	}
	found, over := Keys(src)
	if over != nil {
		return // it is not handed to the library
	}
	if got, want := len(found), len(meta.Keys()); got != want {
		t.Fatalf("%q: %d spots, want %d for %v", src, got, want, meta.Keys())
	}
	for i, key := range meta.Keys() {
		first := key.String()
		c := src[found[i].Key]
		if c == '"' || c == '\'' {
			continue
		}
		// The header of a table begins with its first part, a pair with the first
		// part after its table's; one part of the key begins here in any case.
		if !startsPart(key, src[found[i].Key:]) {
			t.Errorf("%q: the spot of %s is at %q", src, first, src[found[i].Key:])
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
