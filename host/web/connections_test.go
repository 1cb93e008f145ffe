package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestSilentConnections: a client that opens all connections and says nothing, or begins a request
// and never ends it, locks no one out, and takes no stream away.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, runningWorker("one"))
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 4
	server := &http.Server{Handler: r, ConnContext: withPlace}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(newBounded(l, most)) }()
	defer func() { _ = server.Close(); <-served }()
	dial := func(text string) net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		return c
	}
	session := "Host: localhost\r\nCookie: " + r.cookie + "=" + r.session + "\r\n\r\n"
	stream := bufio.NewReader(dial("GET " + r.base + "/live HTTP/1.1\r\n" + session))
	if answer, err := http.ReadResponse(stream, nil); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %v, %v", answer, err)
	}
	for range 3 * most {
		dial("GET " + r.base + "/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		refused := bufio.NewReader(dial("GET " + r.base + "/ HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		if answer, err := http.ReadResponse(refused, nil); err != nil || answer.StatusCode != http.StatusUnauthorized {
			t.Fatalf("without a session: %v, %v", answer, err)
		}
		asked := bufio.NewReader(dial("GET " + r.base + "/ HTTP/1.1\r\n" + session))
		if answer, err := http.ReadResponse(asked, nil); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("the person: %v, %v", answer, err)
		}
	}
	// The stream lives on.
	r.host.mu.Lock()
	r.host.workers = append(r.host.workers, runningWorker("two"))
	r.host.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		select {
		case r.host.changed <- struct{}{}:
		case <-ctx.Done():
		}
	}()
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "id-two") {
			return
		}
	}
}
