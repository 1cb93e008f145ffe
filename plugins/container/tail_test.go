package container

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestBeyond(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef\n", 20)
	for _, c := range []struct {
		name, log, last string
		all             bool
		want            string
	}{
		{"a prompt", "one\n", "one\n$ ", true, "$ "},
		{"nothing new", "one\n", "one\n", true, ""},
		{"the log is behind by lines", "one\n", "one\ntwo\n$ ", true, "two\n$ "},
		{"the log is ahead", "one\ntwo\n", "one\n", true, ""},
		{"an empty log", "", "$ ", true, "$ "},
		{"an empty log that is behind", "", "one\n$ ", true, "one\n$ "},
		{"a log since a time", "", "one\n$ ", false, "$ "},
		{"the same prompt again and again", "$ \n$ \n", "$ \n$ \n$ ", true, "$ "},
		{"a long log", long, "abcdef\n" + long + "$ ", false, "$ "},
		{"a long log that is far behind", long + "end\n", "more\n" + long + "$ ", false, ""},
		{"nothing is kept", "one\n", "", false, ""},
		{"bytes that are not UTF-8", "a\ufffd\ufffdb\n", "a\xff\xfeb\n\xff$ ", true, "\ufffd$ "},
		{"a log that ends with such a byte", "a\ufffd", "a\xff$ ", true, "$ "},
		{"a log that ends within a character", "ab\ufffd", "ab\u2502 c", true, "\u2502 c"},
	} {
		seen := &lastOf{from: strings.NewReader(c.log)}
		if _, err := io.Copy(io.Discard, seen); err != nil {
			t.Fatal(err)
		}
		if got := beyond(seen.last, []byte(c.last), c.all); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A log is read in pieces of any size.
func TestLastOf(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("0123456789\n", 100))
	for _, size := range []int{1, 7, anchor - 1, anchor, anchor + 1, len(text)} {
		seen := &lastOf{from: bytes.NewReader(text)}
		if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, seen, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if want := text[len(text)-anchor:]; !bytes.Equal(seen.last, want) {
			t.Errorf("read in pieces of %d bytes: %q, want %q", size, seen.last, want)
		}
	}
}
