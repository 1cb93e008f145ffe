package web

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	const get, post = http.MethodGet, http.MethodPost
	for _, c := range []struct {
		name, method, path string
		headers            []string
		code               int
	}{
		{"the person", get, "/", nil, 200},
		{"without a session", get, "/", []string{"Cookie", ""}, 401},
		{"assets without a session", get, "/assets/app.js", []string{"Cookie", ""}, 401},
		{"a stream without a session", get, "/live", []string{"Cookie", ""}, 401},
		{"a wrong token", get, "/?token=x", []string{"Cookie", ""}, 401},
		{"localhost", get, "/", []string{"Host", "localhost:9"}, 200},
		{"the other loopback address", get, "/", []string{"Host", "[::1]:9"}, 200},
		{"a rebound name", get, "/", []string{"Host", "evil.example:8080"}, 421},
		{"a name that begins like ours", get, "/", []string{"Host", "localhost.evil.example"}, 421},
		{"an address of the network", get, "/", []string{"Host", "192.168.1.2:8080"}, 421},
		{"no host", get, "/", []string{"Host", ""}, 421},
		{"our page", get, "/live", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another port", get, "/live", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"a link from elsewhere", get, "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"a frame elsewhere", get, "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"an address that was typed", get, "/", []string{"Sec-Fetch-Site", "none"}, 200},
		{"a script elsewhere", get, "/", []string{"Origin", "http://evil.example"}, 403},
		{"another method", http.MethodPut, "/", nil, 405},
		{"a change elsewhere", post, "/", []string{"Origin", "http://evil.example"}, 403},
		{"a change from another port", post, "/", []string{"Origin", "http://127.0.0.1:3000"}, 403},
		{"a change from a file", post, "/", []string{"Origin", "null"}, 403},
		{"a change without an origin", post, "/", []string{"Origin", ""}, 403},
		{"a change without a session", post, "/", []string{"Cookie", ""}, 401},
		{"a change that the browser says is from elsewhere", post, "/", []string{"Sec-Fetch-Site", "same-site"}, 403},
	} {
		for _, write := range []bool{false, true} {
			r := newRig(t, func(o *Options) { o.Write = write })
			w := r.ask(r.request(c.method, c.path, c.headers...))
			if w.Code != c.code {
				t.Errorf("%s: %d, want %d\n%s", c.name, w.Code, c.code, w.Body)
			}
			if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || strings.Contains(got, "unsafe") {
				t.Errorf("%s: the policy is %q", c.name, got)
			}
			for name, want := range map[string]string{
				"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: %s is %q", c.name, name, got)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := newRig(t, func(o *Options) { o.Names = []string{"Build.example.com", "*.example.org"} })
	for host, want := range map[string]bool{
		"build.example.com": true, "BUILD.example.com.:8443": true, "a.example.org:1": true, "example.org": false, "a.b.example.org": false,
		"evil.example.com": false, "build.example.com.evil.example": false, "": false, "a.example.orgx": false, "[::1": true,
	} {
		if got := s.knows(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestExchange(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.TLS = &tls.Config{} })
	address := strings.TrimPrefix(r.Address("https://127.0.0.1:8080"), "https://127.0.0.1:8080")
	w := r.ask(r.request(http.MethodGet, address, "Cookie", ""))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
		t.Fatalf("%d, to %q", w.Code, w.Header().Get("Location"))
	}
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies: %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || strings.Contains(c.Value, r.token) {
		t.Errorf("the cookie is %s", c)
	}
	if w := r.ask(r.request(http.MethodGet, "/", "Cookie", c.Name+"="+c.Value)); w.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", w.Code)
	}
	other := newRig(t, nil)
	if w := other.ask(other.request(http.MethodGet, "/", "Cookie", c.Name+"="+c.Value)); w.Code != http.StatusUnauthorized {
		t.Errorf("with the cookie of another server: %d", w.Code)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	w := r.ask(r.request(http.MethodPost, "/worker/one/kill"))
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "--write") {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for range maxStreams {
		r.streams <- struct{}{}
	}
	if w := r.ask(r.request(http.MethodGet, "/live")); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d", w.Code)
	}
}
