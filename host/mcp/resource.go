package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// uriPrefix is the beginning of the URI of a worker.
	uriPrefix = "swarm://workers/"
	textType  = "text/plain"
	// maxText is the size of the newest part of a worker's output that is sent.
	maxText = 1 << 20
	// maxCommand is the longest command line in the description of a worker.
	maxCommand = 200
)

var template = &sdk.ResourceTemplate{
	URITemplate: uriPrefix + "{name}",
	Name:        "worker",
	Title:       "Output of a worker",
	Description: "The newest MiB of the output of the worker with that name or id, as plain text. The metadata hold its status.",
	MIMEType:    textType,
}

func resource(r registry.Record) *sdk.Resource {
	command := []rune(strings.ToValidUTF8(strings.Join(r.Command, " "), "\uFFFD"))
	if len(command) > maxCommand {
		command = append(command[:maxCommand], '…')
	}
	about := "Output of: " + string(command)
	if r.Shell != nil && r.Shell.Description != "" {
		about = r.Shell.Description
	}
	return &sdk.Resource{URI: uriPrefix + r.Name, Name: r.Name, Description: about, MIMEType: textType}
}

func (s *server) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	h, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close() }()
	w, err := s.worker(ctx, h, r.Params.URI)
	if err != nil {
		return nil, forClient(err, r.Params.URI)
	}
	var t tail
	if err := h.Display().Logs(ctx, w.ID, swarm.OutputOptions{}, t.add); err != nil && !errors.Is(err, swarm.ErrUnsupported) {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
		URI: r.Params.URI, MIMEType: textType, Text: t.text(),
		Meta: sdk.Meta{"status": string(w.Status)},
	}}}, nil
}

var errNoWorker = errors.New("no such worker")

func forClient(err error, uri string) error {
	if !errors.Is(err, errNoWorker) {
		return err
	}
	data, err := json.Marshal(struct {
		URI string `json:"uri"`
	}{uri})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found", Data: data}
}

// readable answers for resources that the SDK does not know. Its own error about
// them is not JSON if the URI contains a control character.
func readable(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		read, ok := r.(*sdk.ReadResourceRequest)
		var wire *jsonrpc.Error
		if ok && errors.As(err, &wire) && wire.Code == jsonrpc.CodeInvalidParams {
			return nil, forClient(errNoWorker, read.Params.URI)
		}
		return result, err
	}
}

// worker returns the worker of a URI, or errNoWorker. It does not find background shells of
// other sessions.
func (s *server) worker(ctx context.Context, h *host.Host, uri string) (worker.Worker, error) {
	name, ok := strings.CutPrefix(uri, uriPrefix)
	if !ok || !swarm.ValidName(name) || s.Outside {
		return worker.Worker{}, errNoWorker
	}
	ws, _, err := h.Workers(ctx, worker.Selection{Names: []string{name}})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return worker.Worker{}, errNoWorker
	case err != nil:
		return worker.Worker{}, err
	case len(ws) != 1 || !s.mine(ws[0].Shell):
		return worker.Worker{}, errNoWorker
	}
	return ws[0], nil
}

// mine reports whether a worker is for this session to see.
func (s *server) mine(sh *registry.Shell) bool { return sh == nil || sh.Session == s.Session.ID }

// tail keeps the newest part of an output as plain text.
type tail struct {
	screens map[swarm.Stream]*screen.Screen
	// open is the stream of the last line if that is unfinished.
	open swarm.Stream
	kept []byte
	// dropped is how many earlier bytes were dropped.
	dropped int64
}

// add adds a piece. It collects up to twice the kept size, so that not each piece moves all
// of the text.
func (t *tail) add(o swarm.Output) error {
	t.dropped += o.Dropped
	s := t.screens[o.Stream]
	if s == nil {
		s = &screen.Screen{Line: func(l screen.Line) { t.keep(o.Stream, l) }}
		if t.screens == nil {
			t.screens = make(map[swarm.Stream]*screen.Screen)
		}
		t.screens[o.Stream] = s
	}
	s.Write(o.Data, o.Time)
	if !o.Partial {
		s.Write([]byte{'\n'}, o.Time)
	}
	return nil
}

// keep adds a finished line, or a piece of one.
func (t *tail) keep(stream swarm.Stream, l screen.Line) {
	if t.open != "" && (l.Begins || t.open != stream) {
		t.kept = append(t.kept, '\n')
	}
	t.kept = append(t.kept, l.Text...)
	t.open = stream
	if l.Ends {
		t.kept = append(t.kept, '\n')
		t.open = ""
	}
	if len(t.kept) > 2*maxText {
		t.cut()
	}
}

func (t *tail) cut() {
	over := len(t.kept) - maxText
	if over <= 0 {
		return
	}
	for over < len(t.kept) && !utf8.RuneStart(t.kept[over]) {
		over++
	}
	t.dropped += int64(over)
	t.kept = append(t.kept[:0], t.kept[over:]...)
}

// text returns the kept text, below a line that says how much was dropped. It is never
// empty: the SDK would leave the field out, and clients need it.
func (t *tail) text() string {
	for _, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
		if s := t.screens[stream]; s != nil {
			s.Close()
		}
	}
	t.cut()
	if len(t.kept) == 0 {
		return swarm.TranscriptMark + "nothing was written]\n"
	}
	text := strings.ToValidUTF8(string(t.kept), "\uFFFD")
	if t.dropped > 0 {
		return fmt.Sprintf("%s%d bytes of older output are left out]\n%s", swarm.TranscriptMark, t.dropped, text)
	}
	return text
}
