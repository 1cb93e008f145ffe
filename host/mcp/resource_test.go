package mcp

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestTail(t *testing.T) {
	t.Parallel()
	var some tail
	for _, o := range []swarm.Output{
		{Stream: swarm.Stdout, Data: []byte("\x1b[1mbo"), Partial: true, Dropped: 7},
		{Stream: swarm.Stdout, Data: []byte("ld\x1b[0m")},
		{Stream: swarm.Stderr, Data: []byte("\xff")},
	} {
		if err := some.add(o); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := some.text(), "[swarm: 7 bytes of older output are left out]\nbold\n\uFFFD\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var shown tail
	for _, o := range []swarm.Output{
		{Stream: swarm.Stdout, Data: []byte("10%\r"), Partial: true},
		{Stream: swarm.Stdout, Data: []byte("100%\r")},
		{Stream: swarm.Stdout, Data: []byte("finished\x1b[26Gnow."), Partial: true},
	} {
		if err := shown.add(o); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := shown.text(), "100%\nfinished                 now."; got != want {
		t.Errorf("what was shown is %q, want %q", got, want)
	}
	if got, want := new(tail).text(), "[swarm: nothing was written]\n"; got != want {
		t.Errorf("of nothing: %q, want %q", got, want)
	}
	var full tail
	line := bytes.Repeat([]byte("ü"), 333)
	for range 10000 {
		if err := full.add(swarm.Output{Stream: swarm.Stdout, Data: line}); err != nil {
			t.Fatal(err)
		}
	}
	mark, rest, _ := strings.Cut(full.text(), "\n")
	if len(rest) > maxText || len(rest) < maxText-utf8.UTFMax || strings.ContainsRune(rest, utf8.RuneError) {
		t.Errorf("%d bytes are kept", len(rest))
	}
	if want := "[swarm: 5621425 bytes of older output are left out]"; mark != want {
		t.Errorf("%q, want %q", mark, want)
	}
}
