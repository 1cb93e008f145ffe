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
	archive := []byte("no archive")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		switch r.URL.Path {
		case "/profiles.tar.gz":
			body = archive
		case "/moved":
			http.Redirect(w, r, "/profiles.tar.gz", http.StatusFound)
		case "/away":
			http.Redirect(w, r, "http://192.0.2.1/x", http.StatusFound)
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
	sum := sha256.Sum256(archive)
	right, wrong := hex.EncodeToString(sum[:]), strings.Repeat("ab", sha256.Size)
	for _, c := range []struct{ path, hash, want string }{
		{"/profiles.tar.gz", right, "not an archive .tar.gz"},
		{"/moved", right, "not an archive .tar.gz"},
		{"/profiles.tar.gz", wrong, "has the SHA-256 hash " + right + ", not " + wrong},
		{"/missing", right, "the server has no such file"},
		{"/large", right, "it is larger than 8388608 bytes"},
		{"/away", right, "use https://"},
	} {
		a, _, _ := apptest.WithState(t)
		err := apptest.Run(t, newUpdate(a), server.URL+c.path, "--sha256", c.hash)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
}
