package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy is what pages may load: the parts of this server, nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard lets through to next only what may reach it.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		// With no-referrer browsers would hide the origin of our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		switch {
		case !s.knows(r.Host):
			s.refuse(w, r, http.StatusMisdirectedRequest, "This server is not known by the name in the address.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			s.refuse(w, r, http.StatusMethodNotAllowed, "This server answers GET and POST.")
		case !fromHere(r):
			s.refuse(w, r, http.StatusForbidden, "The request came from another site.")
		case public[r.URL.Path] && r.Method != http.MethodPost:
			next.ServeHTTP(w, r) // what the page needs that says how to get in
		case r.URL.Path == "/" && r.URL.Query().Has("token"):
			s.exchange(w, r)
		case !s.hasSession(r):
			s.refuse(w, r, http.StatusUnauthorized, "Open the address that ‘swarm web’ has printed last. It lets one browser in, once; a bookmark of it works after that.")
		case r.Method == http.MethodPost && !s.opts.Write:
			s.refuse(w, r, http.StatusForbidden, "This server only shows workers. ‘swarm web --write’ starts one that acts on them.")
		default:
			defer hold(r.Context())()
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether the server may be called by the name in a Host header.
func (s *Server) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(host); err == nil {
		// No DNS stands behind it.
		return ip.IsLoopback() || s.opts.AnyAddress
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || slices.ContainsFunc(s.opts.Names, func(n string) bool { return covers(n, host) })
}

// covers reports whether a name of a certificate, which may begin with "*.", is that of host.
func covers(name, host string) bool {
	if rest, wild := strings.CutPrefix(name, "*."); wild {
		_, host, _ = strings.Cut(host, ".")
		return strings.EqualFold(rest, host)
	}
	return strings.EqualFold(name, host)
}

// fromHere reports whether a request comes from a page of this server, or from the person
// as a visit to an address. A request that changes anything has to prove it.
func fromHere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	visit := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	if site != "" && site != "same-origin" && site != "none" && !visit {
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return r.Method != http.MethodPost
	}
	origin, err := url.Parse(origins[0])
	if err != nil || len(origins) > 1 || !strings.EqualFold(origin.Host, r.Host) {
		return false
	}
	if r.TLS != nil {
		return origin.Scheme == "https"
	}
	return origin.Scheme == "http" || origin.Scheme == "https" // before a proxy that encrypts
}

// public are the paths that need no session.
var public = map[string]bool{"/assets/style.css": true, "/assets/icon.svg": true}

// within lets through to next only what is below the base of the server. The base is a
// secret, like the cookie: browsers send cookies to all ports of a host name, but this one
// only to paths below the base, which no other server knows.
func (s *Server) within(next http.Handler) http.Handler {
	below := http.StripPrefix(s.base, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := len(s.base)
		switch path := r.URL.Path; {
		case len(path) > n && same(path[:n], s.base) && path[n] == '/' && !strings.HasPrefix(r.URL.RawPath, "//"):
			below.ServeHTTP(w, r)
		default:
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Referrer-Policy", "no-referrer")
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "There is nothing here. Open the address that 'swarm web' has printed.", http.StatusNotFound)
		}
	})
}

// exchange gives a session for the token, and takes the token out of the address. Each token
// is good for one session.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && s.hasSession(r) {
		http.Redirect(w, r, s.base+"/", http.StatusSeeOther)
		return
	}
	if r.Method != http.MethodGet || !s.spend(r.URL.Query().Get("token")) {
		s.refuse(w, r, http.StatusUnauthorized, "The token in the address has been used, or is not that of this server. Open the address that ‘swarm web’ has printed last.")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie, Value: s.session, Path: s.base + "/", HttpOnly: true, Secure: s.opts.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, s.base+"/", http.StatusSeeOther)
}

// spend reports whether the token is the present one, which has a successor then.
func (s *Server) spend(token string) bool {
	s.tokens.Lock()
	defer s.tokens.Unlock()
	if !same(token, s.token) {
		return false
	}
	s.token = rand.Text()
	if s.opts.Spent != nil {
		s.opts.Spent(s.base + "/?token=" + s.token)
	}
	return true
}

func (s *Server) hasSession(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(s.cookie), func(c *http.Cookie) bool { return same(c.Value, s.session) })
}

// same compares secrets in a time that does not say how much of them is the same.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
