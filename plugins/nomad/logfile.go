package nomad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// logDir is where Nomad keeps the logs of a task, in files that are numbered for
// each stream: worker.stdout.0, worker.stdout.1.
const logDir = "alloc/logs"

// logFile is one of the files.
type logFile struct {
	number  int
	size    int64
	written time.Time
}

type logs struct {
	b     *Backend
	at    place
	alloc string
	node  string // its name
}

// listLimit is how long a node may take to list the files of a log. Nomad's servers notice that a
// node is away a while later only.
const listLimit = 15 * time.Second

// list returns the files of each stream in the order written. A task that has not
// started has none.
func (l logs) list(ctx context.Context) (map[swarm.Stream][]logFile, error) {
	limited, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	infos, _, err := l.b.client.AllocFS().List(&api.Allocation{ID: l.alloc}, logDir, l.b.query(limited, l.at))
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, l.away()
	}
	if err != nil {
		if err = l.b.explain(ctx, "read the output", err); errors.Is(err, swarm.ErrNotFound) {
			return nil, fmt.Errorf("%w: Nomad has collected the output as garbage", swarm.ErrNotFound)
		}
		if errors.Is(err, errAway) {
			return nil, l.away()
		}
		return nil, err
	}
	files := make(map[swarm.Stream][]logFile)
	for _, info := range infos {
		rest, ok := strings.CutPrefix(info.Name, taskName+".")
		stream, number, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(number)
		if s := swarm.Stream(stream); ok && err == nil && (s == swarm.Stdout || s == swarm.Stderr) {
			files[s] = append(files[s], logFile{number: n, size: info.Size, written: info.ModTime})
		}
	}
	for _, of := range files {
		slices.SortFunc(of, func(a, b logFile) int { return a.number - b.number })
	}
	return files, nil
}

// away is the error of a node that does not answer.
func (l logs) away() error {
	return fmt.Errorf("%w: the node '%s' is away from Nomad: the output is there, and can be read when the node is back",
		swarm.ErrUnavailable, l.node)
}

// open returns a part of a file. The client of the API would first ask for the
// node, to talk to it without the agent.
func (l logs) open(ctx context.Context, s swarm.Stream, number int, from, to int64) (io.ReadCloser, error) {
	q := l.b.query(ctx, l.at)
	q.Params["path"] = fmt.Sprintf("%s/%s.%s.%d", logDir, taskName, s, number)
	q.Params["offset"] = strconv.FormatInt(from, 10)
	q.Params["limit"] = strconv.FormatInt(to-from, 10)
	r, err := l.b.client.Raw().Response("/v1/client/fs/readat/"+l.alloc, q)
	return r, l.b.explain(ctx, "read the logs", err)
}

// follow calls wake whenever something is written to a stream, until the context ends.
// Nomad's own following only serves as an alarm: it does not end with the task, and does
// not reliably report its file and offset.
func (l logs) follow(ctx context.Context, s swarm.Stream, wake func()) {
	for ctx.Err() == nil {
		l.followOnce(ctx, s, wake)
		if sleep.For(ctx, retryEvery) == nil {
			wake()
		}
	}
}

func (l logs) followOnce(ctx context.Context, s swarm.Stream, wake func()) {
	q := l.b.query(ctx, l.at)
	q.Params["task"], q.Params["type"], q.Params["follow"] = taskName, string(s), "true"
	q.Params["origin"], q.Params["offset"] = "end", "0"
	r, err := l.b.client.Raw().Response("/v1/client/fs/logs/"+l.alloc, q)
	if err != nil {
		return
	}
	defer func() { _ = r.Close() }()
	// Read the output from before Nomad began to follow.
	wake()
	frames := json.NewDecoder(r)
	for {
		var f api.StreamFrame
		if frames.Decode(&f) != nil {
			return
		}
		if !f.IsHeartbeat() {
			wake()
		}
	}
}
