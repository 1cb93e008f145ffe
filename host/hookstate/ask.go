package hookstate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
)

// askSocket is the name of the socket in a run directory at which the hook of a question
// waits for a decision.
const askSocket = "ask.sock"

// maxDecision bounds a decision, and decisionLimit the time for handing one over.
const (
	maxDecision   = 4 << 10
	decisionLimit = 2 * time.Second
)

// Ask is a question whose hook waits for a decision.
type Ask struct {
	// Digest identifies the question.
	Digest string `json:"digest"`
	// Hook is the process that waits, Until is when it gives up.
	Hook  proc.Identity `json:"hook"`
	Until time.Time     `json:"until"`
}

// The answers of a [Decision].
const (
	Allow = "allow"
	Deny  = "deny"
	// OnScreen leaves the question to the client, which asks on its screen.
	OnScreen = "ask"
)

// Decision is the answer to a question of a hook that waits.
type Decision struct {
	// Digest is that of the question.
	Digest string `json:"digest"`
	// Answer is one of the answers.
	Answer string `json:"answer"`
}

// Waits reports whether the agent's hook waits for a decision. main is the main process of the
// worker now.
func (c *Claim) Waits(main proc.Identity) bool {
	return c.State == Blocked && c.Ask != nil && c.Holds(main) && c.Ask.Hook.Alive() && time.Now().Before(c.Ask.Until)
}

// ErrNotWaiting means that no hook waits for the decision: it has got another one, it has given
// up, or the agent asks something else.
var ErrNotWaiting = errors.New("no hook waits for this decision any more")

// Listener is the end of a hook at which a decision arrives.
type Listener struct{ listener *net.UnixListener }

// Listen makes a run directory ready for decisions. Only one hook of a run directory may do that
// at a time.
func Listen(run string) (*Listener, error) {
	path := filepath.Join(run, askSocket)
	_ = os.Remove(path) // of a hook that was killed
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("wait for a decision: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &Listener{l}, nil
}

// Close ends the wait.
func (w *Listener) Close() error { return w.listener.Close() }

// Decision returns the first decision about the question with a digest, or an error when ctx
// ends.
func (w *Listener) Decision(ctx context.Context, digest string) (Decision, error) {
	stop := context.AfterFunc(ctx, func() { _ = w.listener.Close() })
	defer stop()
	for {
		conn, err := w.listener.AcceptUnix()
		if err != nil {
			return Decision{}, errors.Join(ctx.Err(), err)
		}
		d, err := take(conn, digest)
		if err == nil {
			return d, nil
		}
	}
}

// take reads a decision from a connection, and confirms it.
func take(conn *net.UnixConn, digest string) (d Decision, err error) {
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(decisionLimit)); err != nil {
		return d, err
	}
	line, err := bufio.NewReaderSize(conn, maxDecision).ReadSlice('\n')
	if err == nil {
		err = json.Unmarshal(line, &d)
	}
	if err == nil && (d.Digest != digest || d.Answer != Allow && d.Answer != Deny && d.Answer != OnScreen) {
		err = ErrNotWaiting
	}
	if err != nil {
		return d, err
	}
	_, err = conn.Write([]byte("ok\n"))
	return d, err
}

// Decide hands a decision over to the hook that waits in a run directory. It returns nil once
// the hook has confirmed it.
func Decide(ctx context.Context, run string, d Decision) (err error) {
	ctx, cancel := context.WithTimeout(ctx, decisionLimit)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", filepath.Join(run, askSocket))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotWaiting, err)
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	b, err := json.Marshal(d)
	if err == nil {
		_, err = conn.Write(append(b, '\n'))
	}
	if err == nil {
		var reply string
		if reply, err = bufio.NewReaderSize(conn, 16).ReadString('\n'); err == nil && reply != "ok\n" {
			err = errors.New("an unexpected reply")
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotWaiting, err)
	}
	return nil
}
