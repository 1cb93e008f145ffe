package web

import (
	"crypto/tls"
	"net/http"
	"regexp"
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
	address := strings.TrimPrefix(r.Address("https://127.0.0.1:8080"), "https://127.0.0.1:8080"+r.base)
	w := r.ask(r.request(http.MethodGet, address, "Cookie", ""))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != r.base+"/" {
		t.Fatalf("%d, to %q", w.Code, w.Header().Get("Location"))
	}
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies: %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != r.base+"/" || len(r.base) < 27 || c.Domain != "" || strings.Contains(c.Value, r.token) {
		t.Errorf("the cookie is %s", c)
	}
	if w := r.ask(r.request(http.MethodGet, "/", "Cookie", c.Name+"="+c.Value)); w.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", w.Code)
	}
	// The token lets one browser in, and the one that it let in again.
	if w := r.ask(r.request(http.MethodGet, address, "Cookie", "")); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 {
		t.Errorf("the same token again: %d", w.Code)
	}
	if w := r.ask(r.request(http.MethodGet, address, "Cookie", c.Name+"="+c.Value)); w.Code != http.StatusSeeOther {
		t.Errorf("the same token with the session: %d", w.Code)
	}
	next := strings.TrimPrefix(r.Address(""), r.base)
	if w := r.ask(r.request(http.MethodGet, next, "Cookie", "")); next == address || w.Code != http.StatusSeeOther {
		t.Errorf("the next token: %d", w.Code)
	}
	other := newRig(t, nil)
	if w := other.ask(other.request(http.MethodGet, "/", "Cookie", c.Name+"="+c.Value)); w.Code != http.StatusUnauthorized {
		t.Errorf("with the cookie of another server: %d", w.Code)
	}
}

// TestOnlyBelowItsBase: nothing else than the paths below the base exists, or sets a cookie.
func TestOnlyBelowItsBase(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Path = "abcdefghijklmnopqrstuvwxyz" })
	token := strings.TrimPrefix(r.Address(""), r.base)
	for _, path := range []string{
		"/", token, "/live", "/assets/style.css", "/worker/one", "/abcdefghijklmnopqrstuvwxyz", "/abcdefghijklmnopqrstuvwxyZ/", "/abcdefghijklmnopqrstuvwxyz0" + token,
		"/x" + r.base + "/", "//abcdefghijklmnopqrstuvwxyz/", "/abcdefghijklmnopqrstuvwxy" + token, "/favicon.ico",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
			req := r.request(method, "")
			req.URL.Path, req.URL.RawQuery, _ = strings.Cut(path, "?")
			w := r.ask(req)
			if w.Code != http.StatusNotFound || len(w.Result().Cookies()) > 0 || w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), r.base) {
				t.Errorf("%s %s: %d, %v\n%s", method, path, w.Code, w.Header(), w.Body)
			}
		}
	}
	if w := r.ask(r.request(http.MethodGet, "/")); w.Code != http.StatusOK || strings.Contains(r.paths(w.Body.String()), r.base) {
		t.Errorf("its own page: %d", w.Code)
	}
	// Each address that a page has leads below the base.
	for _, path := range []string{"/", "/timeline", "/teams"} {
		body := r.ask(r.request(http.MethodGet, path)).Body.String()
		for _, m := range regexp.MustCompile(`(?:href|src|action|data-live|data-base)="(/[^"]*)"`).FindAllStringSubmatch(body, -1) {
			if !strings.HasPrefix(m[1], r.base+"/") {
				t.Errorf("%s leads to %s", path, m[1])
			}
		}
	}
}

// TestRefusals: the page of a refused request looks as the others do, and leads back.
func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Write = true }, runningWorker("one"))
	bare := r.ask(r.request(http.MethodGet, "/", "Cookie", ""))
	for _, want := range []string{"/assets/style.css", "/assets/icon.svg", "swarm web"} {
		if body := bare.Body.String(); bare.Code != http.StatusUnauthorized || !strings.Contains(body, want) || strings.Contains(body, "<script") || strings.Contains(body, "app.js") {
			t.Errorf("without a session: %d, lacks %s:\n%s", bare.Code, want, body)
		}
	}
	for _, path := range []string{"/assets/style.css", "/assets/icon.svg"} {
		if w := r.ask(r.request(http.MethodGet, path, "Cookie", "")); w.Code != http.StatusOK || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for path, want := range map[string]string{
		"/worker/a'b":          `<pre tabindex="0">swarm events --worker`,
		"/worker/none":         `<pre tabindex="0">swarm events --worker none</pre>`,
		"/nothing":             `href="/">All workers</a>`,
		"/worker/one/do/clean": `href="/worker/one">Back to the worker</a>`,
	} {
		w := r.ask(r.request(http.MethodGet, path))
		if body := r.paths(w.Body.String()); w.Code < 400 || !strings.Contains(body, want) || !strings.Contains(body, `class="button" href="/`) {
			t.Errorf("%s: %d, lacks %s:\n%s", path, w.Code, want, body)
		}
	}
	if code, body := r.post("/worker/one/do/kill", nil); code != http.StatusConflict || !strings.Contains(body, "Back to the worker") {
		t.Errorf("a conflict: %d\n%s", code, body)
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
