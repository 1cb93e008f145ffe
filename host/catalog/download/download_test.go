package download_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/catalog/download"
)

// serve returns the address of a server on this machine.
func serve(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/ten", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("0123456789")) })
	mux.HandleFunc("/stream", func(w http.ResponseWriter, _ *http.Request) {
		for range 20 { // without a length
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush() //nolint:forcetypeassert // a server of net/http has it
		}
	})
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "8")
		_, _ = w.Write([]byte("x"))
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	for path, to := range map[string]string{
		"/once": "/ten", "/loop": "/loop", "/secure": "https://localhost:1/x", "/file": "file:///etc/passwd", "/away": "http://192.0.2.1/x",
	} {
		mux.Handle(path, http.RedirectHandler(to, http.StatusFound))
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// TestLimits: a download ends at its limits, and a failed one leaves no file.
func TestLimits(t *testing.T) {
	t.Parallel()
	base, c, dir := serve(t), download.New(), t.TempDir()
	for path, want := range map[string]string{
		"/ten": "", "/once": "",
		"/stream":  "larger than 10 bytes",
		"/short":   "unexpected EOF",
		"/missing": "no such file",
		"/broken":  "answered 403 Forbidden",
		"/loop":    "more than 5 redirects",
		"/secure":  "a redirect from http to https://localhost:1/x is refused",
		"/file":    "a redirect from http to file:///etc/passwd is refused",
		"/away":    "use https://",
	} {
		to := filepath.Join(dir, filepath.Base(path))
		err := c.File(t.Context(), base+path, to, 10)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if text, err := os.ReadFile(to); (want == "") != (string(text) == "0123456789") || want != "" && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the file has %q, %v", path, text, err)
		}
		bytes, err := c.Bytes(t.Context(), base+path, 10)
		if (err == nil) != (want == "") || want == "" && string(bytes) != "0123456789" {
			t.Errorf("%s: %q, %v", path, bytes, err)
		}
	}
	if _, err := c.Bytes(t.Context(), base+"/ten", 9); err == nil || !strings.Contains(err.Error(), "larger than 9 bytes") {
		t.Errorf("a length above the limit: %v", err)
	}
	if _, err := c.Bytes(t.Context(), base+"/missing", 9); !errors.Is(err, download.ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
}

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"https://example.com/x": true, "http://127.0.0.1:8/x": true, "http://localhost/x": true, "http://[::1]:8/x": true,
		"http://example.com/x": false, "http://127.0.0.1.example.com/x": false, "ftp://example.com/x": false, "file:///etc/passwd": false,
		"https://ann:secret@example.com/x": false, "https://": false, "x": false, "": false,
	} {
		_, err := download.CheckAddress(address)
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
