package web

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/swarm"
)

// following tells one browser what one worker writes, or shows, as its tab wants it.
type following struct {
	server *Server
	tab    string
	// more gets a value when there is more to tell.
	more chan struct{}

	follower *dash.Follower
	running  sync.WaitGroup
	cancel   context.CancelFunc
	// lines are those that the browser has, the first of which is the one with the number
	// first of all that the worker wrote.
	lines []string
	first int
	over  bool
}

// maxPiece is how many lines one event has at most. Earlier lines are left out: nobody
// can read so fast.
const maxPiece = 1000

// tell sends what is new of the worker with that id. A worker that was started again has
// another id, and begins anew.
func (f *following) tell(ctx context.Context, out *stream, id string) error {
	if f.tab != "log" && f.tab != "screen" {
		return nil
	}
	if f.follower == nil || f.follower.ID != id {
		f.begin(ctx, id)
		if err := out.json("begin", id); err != nil {
			return err
		}
	}
	over, err := f.follower.Over()
	if f.tab == "screen" {
		return f.tellScreen(out)
	}
	if err := f.tellLines(out); err != nil {
		return err
	}
	if over && !f.over {
		f.over = true
		why := ""
		if err != nil {
			why = err.Error()
		}
		return out.json("over", string(paint(why)))
	}
	return nil
}

func (f *following) begin(ctx context.Context, id string) {
	f.stop()
	ctx, cancel := context.WithCancel(ctx)
	f.cancel, f.lines, f.first, f.over = cancel, nil, 0, false
	f.follower = dash.Follow(f.server.opts.Host, id, func() {
		select {
		case f.more <- struct{}{}:
		default:
		}
	})
	f.follower.Look(f.tab == "screen")
	follower := f.follower
	f.running.Go(func() { follower.Run(ctx) })
}

// stop ends the reading.
func (f *following) stop() {
	if f.cancel != nil {
		f.cancel()
	}
	f.running.Wait()
}

// piece is what a browser is told of a log: From is the number of the first of the Lines,
// which take the place of those that the browser has from there on. Skipped is how many
// lines before them were left out.
type piece struct {
	From    int      `json:"from"`
	Skipped int      `json:"skipped"`
	Lines   []string `json:"lines"`
}

func (f *following) tellLines(out *stream) error {
	lines, first := f.follower.Lines()
	p, ok := difference(f.lines, f.first, lines, first)
	f.lines, f.first = lines, first
	if !ok {
		return nil
	}
	return out.json("log", p)
}

// difference returns what a browser has to be told that has some lines and shall have
// others; ok is false if they are the same.
func difference(old []string, oldFirst int, lines []string, first int) (p piece, ok bool) {
	end := oldFirst + len(old)
	p.From = max(first, oldFirst)
	if p.From > end {
		p.Skipped = p.From - end
	} else {
		for p.From < end && p.From < first+len(lines) && old[p.From-oldFirst] == lines[p.From-first] {
			p.From++
		}
	}
	fresh := lines[min(p.From-first, len(lines)):]
	if n := len(fresh) - maxPiece; n > 0 && len(old) > 0 {
		fresh, p.From, p.Skipped = fresh[n:], p.From+n, p.Skipped+n
	}
	if len(fresh) == 0 && p.From == end {
		return p, false
	}
	p.Lines = make([]string, len(fresh))
	for i, line := range fresh {
		p.Lines[i] = lineOf(line)
	}
	return p, true
}

// levels are what lines of logs say of themselves, the worst first.
var levels = []struct {
	name  string
	match *regexp.Regexp
}{
	{"error", regexp.MustCompile(`(?i)\b(error|fatal|panic|critical|exception|traceback)\b`)},
	{"warn", regexp.MustCompile(`(?i)\bwarn(ing)?\b`)},
}

// levelBytes is how much of a line is looked at for its level.
const levelBytes = 300

// lineOf returns a line of a log as HTML.
func lineOf(line string) string {
	text := ansi.Strip(line[:min(len(line), levelBytes)])
	class := ""
	for _, l := range levels {
		if l.match.MatchString(text) {
			class = ` class="` + l.name + `"`
			break
		}
	}
	return "<div" + class + ">" + string(paint(line)) + "</div>"
}

func (f *following) tellScreen(out *stream) error {
	lines, ok := f.follower.Picture()
	if !ok || f.over && slices.Equal(lines, f.lines) {
		return nil
	}
	if f.lines != nil && slices.Equal(lines, f.lines) {
		return nil
	}
	f.lines = lines
	painted := make([]string, len(lines))
	for i, line := range lines {
		painted[i] = string(paint(line))
	}
	return out.json("screen", strings.Join(painted, "\n"))
}

// serveText answers with all output that is kept, byte for byte.
func (s *Server) serveText(w http.ResponseWriter, r *http.Request) {
	i, ok := s.find(w, r)
	if !ok {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", i.Name+".log"))
	out := &stream{w: w, r: r, c: http.NewResponseController(w), end: s.end}
	err := s.opts.Host.Logs(r.Context(), i.ID, swarm.OutputOptions{}, func(o swarm.Output) error {
		data := o.Data
		if !o.Partial {
			data = append(slices.Clip(data), '\n')
		}
		return out.put(data)
	})
	if err != nil {
		s.opts.Logger.Debug("a download has ended early", "worker", i.Name, "error", err)
	}
}
