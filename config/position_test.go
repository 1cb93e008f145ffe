package config

import "testing"

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

func TestPosition(t *testing.T) {
	t.Parallel()
	src := "a\nüb\n"
	for at, want := range map[int]string{0: "f:1:1", 2: "f:2:1", 4: "f:2:2", 6: "f:3:1", 99: "f:3:1"} {
		if got := newSource("f", src).position(at).String(); got != want {
			t.Errorf("offset %d is at %s, want %s", at, got, want)
		}
	}
}
