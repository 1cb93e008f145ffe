package shell

import (
	"context"

	"github.com/swarmhost/swarm/host"
)

// Outcome returns what came of a shell of the session that has ended, as [Run] would have:
// of a command that was handed over, with its streams apart. most is how many characters
// of output it returns at most. A shell that runs still is an [host.ErrRunning], an
// unknown one a [NotFoundError].
func Outcome(ctx context.Context, h *host.Host, s Session, id string, most int) (Result, error) {
	w, err := find(ctx, h, s, id)
	if err != nil {
		return Result{}, err
	}
	if !w.Gone() {
		return Result{}, host.ErrRunning
	}
	out, err := read(ctx, h, w)
	if err != nil {
		return Result{}, err
	}
	res := resultOf(w)
	Command{Most: most}.shorten(&res, out, transcriptPath(h, w))
	return res, nil
}
