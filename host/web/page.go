package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/safetext"
)

//go:embed assets
var assets embed.FS

// pages are the templates. Each page is an entry that the layout includes. Their links are
// paths of the server, which "at" puts below its base.
var pages = template.Must(template.New("").Funcs(functionsAt("")).ParseFS(assets, "assets/*.html"))

func functionsAt(base string) template.FuncMap {
	return template.FuncMap{
		"at":    func(path string) string { return base + path },
		"asset": func(name string) string { return base + "/assets/" + name + "?v=" + files[name].tag },
		"tone":  func(t condition.Tone) string { return tones[t] },
		"diff":  func(k dash.DiffKind) string { return diffClasses[k] },
		"list":  func(texts []string) string { return strings.Join(texts, ", ") },
		"safe":  safetext.Line,
	}
}

type file struct {
	data []byte
	kind string
	// tag changes with the data.
	tag string
}

var files = readFiles()

func readFiles() map[string]file {
	all := map[string]file{}
	names, _ := fs.Glob(assets, "assets/*")
	for _, name := range names {
		base := path.Base(name)
		if path.Ext(base) == ".html" {
			continue
		}
		data, err := assets.ReadFile(name)
		if err != nil {
			continue // what was embedded can be read
		}
		if base == "style.css" {
			data = append(data, palette()...)
		}
		sum := sha256.Sum256(data)
		all[base] = file{data: data, kind: mime.TypeByExtension(path.Ext(base)), tag: hex.EncodeToString(sum[:6])}
	}
	return all
}

func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	f, ok := files[r.PathValue("name")]
	if !ok {
		s.refuse(w, r, http.StatusNotFound, "There is no such file.")
		return
	}
	w.Header().Set("Content-Type", f.kind)
	if r.URL.Query().Get("v") == f.tag {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	_, _ = w.Write(f.data)
}

type page struct {
	// Title is what the page is about, Part names its template.
	Title, Part string
	// Bar is what the bar of the browser shows.
	Bar string
	// Nav is the place of the page in the navigation.
	Nav   string
	Write bool
	// Live is the address of the stream that keeps the page current; empty: none.
	Live string
	// Data is for the template.
	Data any
	// Bare says that the browser has no session: it gets no script.
	Bare bool

	server *Server
}

func (s *Server) show(w http.ResponseWriter, p page) { s.showAs(w, http.StatusOK, p) }

func (s *Server) showAs(w http.ResponseWriter, code int, p page) {
	p.Write, p.server = s.opts.Write, s
	if p.Bar = safetext.Line(p.Title) + " · swarm"; p.Nav != "" {
		p.Bar = titleOf(p.Title, s.feed.now())
	}
	body, err := s.render("layout", p)
	if err != nil {
		s.opts.Logger.Error("cannot make a page", "page", p.Part, "error", err)
		http.Error(w, "This page can't be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(body)
}

// titleOf returns what the bar of the browser shows of a page: first how many workers need
// a person.
func titleOf(title string, now snapshot) string {
	title = safetext.Line(title) + " · swarm"
	n := 0
	for _, i := range now.Items {
		if placeOf(i) <= 1 {
			n++
		}
	}
	if n > 0 {
		title = fmt.Sprintf("(%d) %s", n, title)
	}
	return title
}

// Body returns the page's own part.
func (p page) Body() (template.HTML, error) {
	body, err := p.server.render(p.Part, p)
	return template.HTML(body), err
}

func (s *Server) render(part string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, part, data); err != nil {
		return nil, fmt.Errorf("template %s: %w", part, err)
	}
	return b.Bytes(), nil
}

// refusal is what the page of a refused request says: why, the command line that helps, and
// the page to go back to. The last two may be empty.
type refusal struct{ Why, Line, Back string }

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, code int, why string) {
	refused := refusal{Why: why}
	if s.hasSession(r) {
		refused.Back = "/"
	}
	s.refuseWith(w, r, code, refused)
}

func (s *Server) refuseWith(w http.ResponseWriter, r *http.Request, code int, refused refusal) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, strings.TrimSpace(refused.Why+" "+refused.Line), code)
		return
	}
	s.showAs(w, code, page{Title: http.StatusText(code), Part: "refused", Data: refused, Bare: code == http.StatusUnauthorized})
}

// tones are the classes of the style sheet for tones.
var tones = [...]string{
	condition.Quiet: "quiet", condition.Good: "good", condition.Waiting: "waiting", condition.Asking: "asking", condition.Bad: "bad",
}
