package control

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestClient sends a request, gets its answers and disconnects.
func TestClient(t *testing.T) {
	t.Chdir(t.TempDir())
	requests := make(chan Request)
	c, err := Listen(requests)
	if err != nil {
		t.Fatal(err)
	}
	conn, answers := connect(t)
	if _, err := io.WriteString(conn, rundir.Request{Verb: rundir.VerbWatch, ID: "w"}.String()+"\n"); err != nil {
		t.Fatal(err)
	}
	r := <-requests
	if r.Verb != rundir.VerbWatch || r.ID != "w" || r.From.HasLeft() || r.From.KeepsOpen() {
		t.Errorf("request %+v of %+v", r.Request, r.From)
	}
	r.From.Say(rundir.Answer{Kind: rundir.AnswerOK})
	if line, err := answers.ReadString('\n'); line != "ok\n" || err != nil {
		t.Errorf("answer %q, %v", line, err)
	}
	_ = conn.Close()
	if left := <-c.Left(); left != r.From || !left.HasLeft() {
		t.Errorf("another client has left: %+v", left)
	}
	r.From.Release()
	c.Close()
	if _, err := os.Lstat(rundir.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket after Close: %v", err)
	}
}

// TestBadRequest sends a line that is not a request.
func TestBadRequest(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := Listen(make(chan Request))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conn, answers := connect(t)
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Fatal(err)
	}
	(<-c.Left()).Release()
	if line, err := answers.ReadString('\n'); !strings.HasPrefix(line, "error ") || err != nil {
		t.Errorf("answer %q, %v", line, err)
	}
}

func connect(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", rundir.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn, bufio.NewReader(conn)
}
