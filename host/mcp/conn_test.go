package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// sink collects what is written.
type sink struct {
	mu    sync.Mutex
	lines []string
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, string(p))
	return len(p), nil
}

func (s *sink) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines
}

func testConn(t *testing.T) (c *conn, client *io.PipeWriter, out *sink) {
	t.Helper()
	in, client := io.Pipe()
	out = &sink{}
	c = newConn(in, out)
	t.Cleanup(func() { _ = client.Close() })
	return c, client, out
}

func mustRead(t *testing.T, c *conn) *jsonrpc.Request {
	t.Helper()
	m, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m.(*jsonrpc.Request)
}

func mustWrite(t *testing.T, c *conn, id any) {
	t.Helper()
	made, err := jsonrpc.MakeID(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), &jsonrpc.Response{ID: made, Result: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, client io.Writer, lines ...string) {
	t.Helper()
	go func() {
		for _, line := range lines {
			if _, err := io.WriteString(client, line+"\n"); err != nil {
				t.Error(err)
			}
		}
	}()
}

func TestConnDropsAnswers(t *testing.T) {
	t.Parallel()
	c, client, out := testConn(t)
	send(t, client,
		`{"jsonrpc":"2.0","id":1,"method":"a"}`,
		`{"jsonrpc":"2.0","id":"1","method":"b"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	for _, want := range []string{"a", "b", "notifications/cancelled", "notifications/cancelled"} {
		if got := mustRead(t, c).Method; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	mustWrite(t, c, 1.0)
	mustWrite(t, c, "1")
	// An id can be used again, also that of a call which was cancelled.
	send(t, client, `{"jsonrpc":"2.0","id":1,"method":"c"}`)
	mustRead(t, c)
	mustWrite(t, c, 1.0)
	want := []string{
		`{"jsonrpc":"2.0","id":"1","result":{}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
	}
	if diff := cmp.Diff(want, out.all()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// TestConnGreets: the server sends nothing before the first answer.
func TestConnGreets(t *testing.T) {
	t.Parallel()
	c, client, out := testConn(t)
	notice := &jsonrpc.Request{Method: "n"}
	send(t, client, "what?", `{"jsonrpc":"2.0","id":1,"method":"a"}`)
	mustRead(t, c)
	for range 2 {
		if err := c.Write(t.Context(), notice); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, c, 1.0)
	}
	want := []string{
		string(refuse([]byte("what?"), false, nil)),
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
		`{"jsonrpc":"2.0","method":"n"}` + "\n",
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
	}
	if diff := cmp.Diff(want, out.all()); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// TestConnEnds: the end of the input waits for the answers, but not permanently, and not
// for those that no one wants.
func TestConnEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(t *testing.T, c *conn)
		least  time.Duration
	}{
		"answered":  {func(t *testing.T, c *conn) { t.Helper(); mustWrite(t, c, 1.0) }, 0},
		"closed":    {func(t *testing.T, c *conn) { t.Helper(); _ = c.Close() }, 0},
		"forgotten": {func(*testing.T, *conn) {}, lastAnswers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, client, _ := testConn(t)
			send(t, client, `{"jsonrpc":"2.0","id":1,"method":"a"}`)
			mustRead(t, c)
			start := time.Now()
			if err := client.Close(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := c.Read(context.WithoutCancel(t.Context()))
				done <- err
			}()
			test.before(t, c)
			if err := <-done; !errors.Is(err, io.EOF) {
				t.Errorf("Read: %v", err)
			}
			<-c.ended
			if took := time.Since(start); took < test.least {
				t.Errorf("it ended after %v", took)
			}
		})
	}
}

// TestConnRefuses: an invalid message is answered with an error, and the next one is read.
func TestConnRefuses(t *testing.T) {
	t.Parallel()
	c, client, out := testConn(t)
	send(t, client, `what?`, `{"id":1}`, `{"jsonrpc":"2.0","id":2,"method":"a"}`)
	if got := mustRead(t, c); got.Method != "a" {
		t.Errorf("read %+v", got)
	}
	if got := out.all(); len(got) != 2 {
		t.Errorf("written: %q", got)
	}
}
