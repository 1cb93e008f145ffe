package web

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"html/template"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/saved"
)

type Options struct {
	// Host is asked for everything.
	Host Host
	// Write lets the browser act on workers; else it can only look.
	Write bool
	// Names are the host names, besides IP addresses of this machine and localhost, by which
	// the server may be called. One that begins with "*." stands for all names of one more part.
	Names []string
	// AnyAddress lets the server be called by any IP address, for one that listens on more
	// than the loopback interface.
	AnyAddress bool
	// TLS has the certificate with which connections are encrypted; nil: they are not. With
	// it cookies are sent over such connections only.
	TLS *tls.Config
	// Path is the first part of the path of all pages, which can't be guessed; empty: the
	// server makes one.
	Path string
	// Spent is called when a token has let a browser in, with the path that has the next one,
	// unless it is nil.
	Spent func(path string)
	// Logger gets messages for debugging; may be nil.
	Logger hclog.Logger
}

// Server answers a browser. Its methods may be called at the same time.
type Server struct {
	opts Options
	// base is before all paths.
	base string
	// token lets the next browser in.
	token   string
	tokens  sync.Mutex
	pages   *template.Template
	session string
	cookie  string
	feed    *feed
	differ  dash.Differ
	rescues dash.Rescues
	mux     http.Handler
	// streams has a place for each stream of events.
	streams chan struct{}
	// end is closed when the server ends, and with it all streams.
	end   chan struct{}
	ended sync.Once
	// life ends with the server, and with it the actions that are under way.
	life  context.Context //nolint:containedctx // it is the life of what outlasts a request
	leave context.CancelFunc
	// acting are the actions that are under way.
	acting sync.WaitGroup
	notes  notes
}

const (
	// maxStreams is how many streams of events there may be at once, and maxConnections how
	// many connections.
	maxStreams, maxConnections = 48, 128
	// maxHeader and maxBody are the largest sizes of the parts of a request, in bytes.
	maxHeader, maxBody = 16 << 10, 64 << 10
	// writeLimit is how long a client may take to read a page, or one event of a stream.
	writeLimit = 20 * time.Second
	// endLimit is how long requests may take that are under way at the end.
	endLimit = 3 * time.Second
)

// New returns a server with a token and a session of its own.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	s := &Server{
		opts: o, token: rand.Text(), session: rand.Text() + rand.Text(), cookie: "swarm_" + rand.Text()[:8],
		feed: newFeed(o.Host), differ: o.Host.Workspaces(), rescues: o.Host.Saved(), streams: make(chan struct{}, maxStreams), end: make(chan struct{}),
	}
	if o.Path == "" {
		o.Path = NewPath()
	}
	s.base = "/" + o.Path
	s.pages = template.Must(pages.Clone()).Funcs(functionsAt(s.base))
	s.life, s.leave = context.WithCancel(context.Background())
	s.mux = s.within(s.guard(s.routes()))
	return s
}

// NewPath returns a path that can't be guessed.
func NewPath() string { return strings.ToLower(rand.Text()) }

// Address returns the address to open, of a server that listens at host, such as
// http://127.0.0.1:8080. The first browser that opens it can do what this server allows.
func (s *Server) Address(host string) string {
	s.tokens.Lock()
	defer s.tokens.Unlock()
	return host + s.base + "/?token=" + s.token
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Serve answers the connections of a listener until ctx ends, and closes it.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var background sync.WaitGroup
	defer s.acting.Wait()
	defer background.Wait()
	defer s.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	background.Go(func() { s.feed.run(ctx) })
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: writeLimit, WriteTimeout: writeLimit,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader, ConnContext: withPlace,
		ErrorLog: s.opts.Logger.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	background.Go(func() {
		<-ctx.Done()
		s.ended.Do(func() { close(s.end) })
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
		defer cancel()
		if server.Shutdown(limit) != nil {
			_ = server.Close()
		}
	})
	places := newBounded(l, maxConnections)
	places.failed = func(err error) { s.opts.Logger.Warn("connections wait", "error", err) }
	l = places
	if s.opts.TLS != nil {
		config := s.opts.TLS.Clone()
		config.NextProtos = []string{"h2", "http/1.1"}
		l = tls.NewListener(l, config)
	}
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.serveList)
	mux.HandleFunc("GET /live", s.liveList)
	mux.HandleFunc("GET /worker/{name}", s.serveWorker)
	mux.HandleFunc("GET /worker/{name}/{tab}", s.serveWorker)
	mux.HandleFunc("GET /worker/{name}/live", s.liveWorker)
	mux.HandleFunc("GET /worker/{name}/output", s.serveText)
	mux.HandleFunc("GET /worker/{name}/do/{verb}", s.serveQuestion)
	mux.HandleFunc("POST /worker/{name}/do/{verb}", s.serveAction)
	mux.HandleFunc("GET /timeline", s.serveTimeline)
	mux.HandleFunc("GET /timeline/live", s.liveTimeline)
	mux.HandleFunc("GET /teams", s.serveTeams)
	mux.HandleFunc("GET /teams/live", s.liveTeams)
	mux.HandleFunc("GET /assets/{name}", s.serveFile)
	return mux
}

// Host is what a server asks. A [host.Host] is one.
type Host interface {
	dash.Host
	View(ctx context.Context, view func(context.Context, *registry.Tx) error) error
	// Workspaces returns what compares workspaces, and Saved the work that was saved from them.
	Workspaces() *compare.Workspaces
	Saved() *saved.Rescues
}
