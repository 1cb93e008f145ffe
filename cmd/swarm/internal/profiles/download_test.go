package profiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/host/profile/bundle"
)

// TestDownload: an archive at an address must have the hash that was given, and what the server
// sends is bounded.
func TestDownload(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	archive := []byte("no archive")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		switch r.URL.Path {
		case "/profiles.tar.gz":
			body = archive
		case "/moved":
			http.Redirect(w, r, "/profiles.tar.gz", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/large":
			body = bytes.Repeat([]byte("x"), bundle.MaxArchive+1)
		default:
			http.NotFound(w, r)
		}
		if _, err := w.Write(body); err != nil {
			t.Log("the client has gone:", err)
		}
	}))
	defer server.Close()
	before := client.Transport
	client.Transport = server.Client().Transport
	defer func() { client.Transport = before }()

	sum := sha256.Sum256(archive)
	right, wrong := hex.EncodeToString(sum[:]), strings.Repeat("ab", sha256.Size)
	for _, c := range []struct{ path, hash, want string }{
		{"/profiles.tar.gz", right, "not an archive .tar.gz"},
		{"/moved", right, "not an archive .tar.gz"},
		{"/profiles.tar.gz", wrong, "has the SHA-256 hash " + right + ", not " + wrong},
		{"/missing", right, "the server answers 404 Not Found"},
		{"/large", right, "it is larger than 8 MiB"},
		{"/loop", right, "it is redirected more than 5 times"},
		{"/plain", right, "it is redirected to an address without https"},
	} {
		a, _, _ := apptest.WithState(t)
		err := apptest.Run(t, newUpdate(a), server.URL+c.path, "--sha256", c.hash)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
}
