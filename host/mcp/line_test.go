package mcp

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLine(t *testing.T) {
	t.Parallel()
	type line struct {
		Text string
		Long bool
	}
	for input, want := range map[string][]line{
		"":                         nil,
		"\n\r\n \n":                nil,
		"a\n":                      {{"a", false}},
		"a\r\n\nb":                 {{"a", false}, {"b", false}},
		"12345678\r\n1":            {{"12345678", false}, {"1", false}},
		"123456789\n1\n":           {{"12345678", true}, {"1", false}},
		strings.Repeat("x", 100):   {{"xxxxxxxx", true}},
		strings.Repeat("x\n", 3):   {{"x", false}, {"x", false}, {"x", false}},
		strings.Repeat("x", 40):    {{"xxxxxxxx", true}},
		"  {}  \n" + "\xff\xfe\n{": {{"{}", false}, {"\xff\xfe", false}, {"{", false}},
	} {
		// A small buffer: lines come in parts.
		r := bufio.NewReaderSize(strings.NewReader(input), 16)
		var got []line
		for {
			text, long, err := readLine(r, 8)
			if len(text) > 0 {
				got = append(got, line{string(text), long})
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", input, diff)
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":`:   `{"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"the line is not JSON"}}`,
		`hello`:                               `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}`,
		`[{"jsonrpc":"2.0","id":1}]`:          `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not taken: send one message a line"}}`,
		`{"jsonrpc":"1.0","id":"a","x":{}}`:   `{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"why"}}`,
		`{"params":[1,{"id":3}],"id":-1}`:     `{"jsonrpc":"2.0","id":-1,"error":{"code":-32600,"message":"why"}}`,
		`{"id":{"id":3},"method":5}`:          `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"why"}}`,
		`{"id":true}`:                         `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"why"}}`,
		`7`:                                   `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"why"}}`,
		`{"method":"x","params":{"big":"xxx`:  `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}`,
		"{\"id\":1,\"a\":\"\xff\",\"b\":nul}": `{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"the line is not JSON"}}`,
	} {
		if diff := cmp.Diff(want+"\n", string(refuse([]byte(line), false, errors.New("why")))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
	got := string(refuse([]byte(`{"id":3,"params":"xxxxx`), true, io.ErrShortBuffer))
	want := `{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"the message is longer than 16777216 bytes"}}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of a long one (-want +got):\n%s", diff)
	}
}

func FuzzRefuse(f *testing.F) {
	f.Add([]byte(`{"id":1}`), true)
	f.Add([]byte("\xff"), false)
	f.Fuzz(func(t *testing.T, line []byte, long bool) {
		text, _, _ := readLine(bufio.NewReader(strings.NewReader(string(line))), maxLine)
		if len(text) == 0 {
			return
		}
		answer := refuse(text, long, errors.New("why"))
		if answer[len(answer)-1] != '\n' || strings.Count(string(answer), "\n") != 1 {
			t.Errorf("not one line: %q", answer)
		}
	})
}
