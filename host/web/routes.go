package web

import "net/http"

// routes returns what answers the requests that the guard lets through.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.serveList)
	mux.HandleFunc("GET /live", s.liveList)
	mux.HandleFunc("GET /assets/{name}", s.serveFile)
	return mux
}
