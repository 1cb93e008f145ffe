package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Options are the options of a worker.
type Options struct {
	Session string `json:"session" help:"The session for the window. Without it: one of swarm's own for the state directory."`
	Socket  string `json:"socket" help:"The server, by the name of its socket, as in \"tmux -L NAME\". Without it: tmux's default one."`
}

type target struct {
	// session is a session's name, and label that of the server's socket, empty
	// for tmux's default.
	session, label string
}

// targetOf reads the options of a worker. By default two state directories use different
// sessions.
func targetOf(options map[string]string, stateDir string) (target, error) {
	var o Options
	if err := plugin.DecodeOptions(options, &o); err != nil {
		return target{}, err
	}
	t := target{session: o.Session, label: o.Socket}
	if t.session == "" {
		sum := sha256.Sum256([]byte(stateDir))
		t.session = "swarm-" + hex.EncodeToString(sum[:4])
	}
	if !validSession(t.session) {
		return target{}, fmt.Errorf("%w: %q can't be a tmux session's name here: use letters, digits, spaces, '-' and '_'",
			swarm.ErrInvalidSpec, t.session)
	}
	if strings.Contains(t.label, "/") {
		return target{}, fmt.Errorf("%w: %q is a path; a tmux socket is given by its name, as to tmux -L", swarm.ErrInvalidSpec, t.label)
	}
	return t, nil
}

// validSession leaves out what tmux changes in a name ('.', ':'), expands ('#',
// '%'), or reads as something else than a name at the beginning of a target.
func validSession(name string) bool {
	for i, r := range name {
		if i == 0 && strings.ContainsRune("$@=-+!{~ ", r) {
			return false
		}
		if !unicode.IsPrint(r) || strings.ContainsRune(`.:#%;\`, r) {
			return false
		}
	}
	return name != "" && len(name) <= 128
}
