package web

import "net/http"

// routes returns what answers the requests that the guard lets through.
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
