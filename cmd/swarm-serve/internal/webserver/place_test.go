package webserver_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoOtherPortGetsTheSession: browsers, and this client, send cookies to all ports of a
// host name. Another server on this machine gets none, whichever path it is asked for.
func TestNoOtherPortGetsTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.web("--write")
	if code, _ := s.get(""); code != http.StatusOK {
		t.Fatalf("%d", code)
	}
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path+": "+r.Header.Get("Cookie")+r.Header.Get("Referer"))
	}))
	defer other.Close()
	paths := []string{"/", "/live", "/worker/one/do/kill", "/assets/app.js", "/favicon.ico", "/a/b/c"}
	for _, path := range paths {
		if code, _ := s.fetch(other.URL + path); code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
	}
	if len(got) != len(paths) {
		t.Errorf("%d requests", len(got))
	}
	for _, request := range got {
		if !strings.HasSuffix(request, ": ") {
			t.Errorf("another port got %s", request)
		}
	}
	// No page exists outside the random path, with or without the session.
	host := s.base[:strings.LastIndex(s.base, "/")]
	token := strings.TrimPrefix(s.address, s.base)
	for _, path := range append(paths, token) {
		answer, err := s.Get(host + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound || len(answer.Cookies()) > 0 {
			t.Errorf("%s: %s, %v", path, answer.Status, answer.Cookies())
		}
	}
	// The token has been used, so another browser gets nothing with it.
	jar := s.Jar
	s.Jar = nil
	if code, body := s.get(""); code != http.StatusUnauthorized || !strings.Contains(body, "has been used") {
		t.Errorf("the token once more: %d\n%s", code, body)
	}
	s.Jar = jar
	if code, _ := s.get("/"); code != http.StatusOK {
		t.Errorf("the first browser: %d", code)
	}
}

// TestAddressIsKept: a bookmark leads to the pages of the next server, too, which asks for its
// own token.
func TestAddressIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.web()
	first.get("")
	files, err := filepath.Glob(filepath.Join(w.dir, "*", "web.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	// A second server has another port, and the stored address stays that of the first.
	other := w.web()
	if other.base == first.base || strings.HasSuffix(other.base, first.base[strings.LastIndex(first.base, "/"):]) {
		t.Errorf("two servers at %s and %s", first.base, other.base)
	}
	first.end()
	other.end()
	second := w.web()
	if second.base != first.base || second.address == first.address {
		t.Errorf("the address was %s, and is %s", first.address, second.address)
	}
	second.Jar = first.Jar
	if code, body := second.get("/"); code != http.StatusUnauthorized || !strings.Contains(body, "swarm web") {
		t.Errorf("the bookmark: %d\n%s", code, body)
	}
	if code, _ := second.fetch(first.address); code != http.StatusUnauthorized {
		t.Errorf("the token of the first: %d", code)
	}
	if code, _ := second.get(""); code != http.StatusOK {
		t.Errorf("with the token: %d", code)
	}
	if code, _ := second.get("/"); code != http.StatusOK {
		t.Errorf("the bookmark after that: %d", code)
	}
	second.end()
	third := w.web("--new-address")
	if path := third.base[strings.LastIndex(third.base, "/"):]; strings.HasSuffix(first.base, path) {
		t.Errorf("the new address is %s", third.address)
	}
	third.end()
	if err := os.WriteFile(files[0], []byte("{\"path\":\"../x\",\"port\":1}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if fourth := w.web(); strings.Contains(fourth.base, "..") || len(fourth.base) < 40 {
		t.Errorf("with a damaged file: %s", fourth.base)
	}
}

// TestEachPortHasItsPath: a page that is still open asks for its path at its port, where another
// program may listen once the server has ended. That program gets no session of a later server, whose
// port is another one.
func TestEachPortHasItsPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.web("--write")
	if code, _ := first.get(""); code != http.StatusOK {
		t.Fatalf("%d", code)
	}
	first.end()
	base, err := url.Parse(first.base)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", base.Host)
	if err != nil {
		t.Fatal(err)
	}
	cookies := make(chan string, 10)
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cookies <- r.Header.Get("Cookie") }))
	_ = other.Listener.Close()
	other.Listener = l
	other.Start()
	second := w.web("--write")
	if code, _ := second.get(""); code != http.StatusOK {
		t.Fatalf("%d", code)
	}
	if code, _ := second.fetch(first.base + "/live"); code != http.StatusOK {
		t.Fatalf("%d", code)
	}
	if got := <-cookies; got != "" {
		t.Errorf("the program at the port of the first server got %s", got)
	}
	other.Close()
	second.end()

	// A port that was named keeps its path, which no other port has.
	at := strings.TrimPrefix(second.base[:strings.LastIndex(second.base, "/")], "http://")
	for _, args := range [][]string{{"--listen", at}, {"--listen", at}, nil} {
		again := w.web(args...)
		want := second.base
		if args == nil {
			want = first.base
		}
		if again.base != want {
			t.Errorf("%q: the address is %s, and was %s", args, again.base, want)
		}
		again.end()
	}
}

// end ends a server.
func (s *server) end() {
	s.w.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		s.w.Fatal(err)
	}
	_ = s.cmd.Wait()
}
