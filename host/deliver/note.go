package deliver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Note records that a delivery began. It exists as long as the outcome is unknown: the
// delivering process was killed, or its error said so.
type Note struct {
	// Text is the hash of the text.
	Text string `json:"text"`
	// Entered says that Enter was pressed, or was about to be.
	Entered bool      `json:"entered"`
	At      time.Time `json:"at"`
}

// Notes keeps the note of one agent. A nil Notes keeps none.
type Notes interface {
	// Load returns the note; its zero value if there is none.
	Load() (Note, error)
	// Save replaces the note, and removes it if it is the zero value.
	Save(n Note) error
}

const (
	// settledLimit is how long a text that the agent has read may take to appear before it
	// counts as lost.
	settledLimit = 2 * time.Second
	// enteredLimit is how long the same text counts as the entered one. Later it is a new
	// text.
	enteredLimit = time.Minute
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (d *delivery) note(entered bool) error {
	if d.Notes == nil || d.mine == "" {
		return nil
	}
	return d.Notes.Save(Note{Text: hashOf(d.text), Entered: entered, At: time.Now()})
}

// over removes the note: how the delivery ended is known.
func (d *delivery) over() error {
	if d.Notes == nil {
		return nil
	}
	return d.Notes.Save(Note{})
}

// resume continues a delivery that was cut off. For another text it only waits until the
// agent has read it, so that it shows at the prompt. For this text it finds the point
// reached: taken says that the agent took the text; otherwise d.draft is the text if it is
// at the prompt.
func (d *delivery) resume(ctx context.Context) (taken bool, err error) {
	if d.Notes == nil || d.mine == "" {
		return false, nil
	}
	n, err := d.Notes.Load()
	if err != nil || n == (Note{}) {
		return false, err
	}
	// Earlier input is read before this one.
	in, err := d.Terminal.Input(ctx, swarm.Input{})
	switch {
	case err != nil:
		return false, err
	case in.Pending:
		return false, d.failf(ErrNoPrompt, "'%s' does not read what an earlier call gave it", d.Name)
	}
	same := n.Text == hashOf(d.text)
	_, _, err = d.watch(ctx, settledLimit, func(s profile.Screen, l profile.Look) (bool, error) {
		d.screen, d.before = s, l
		if err := d.asks(l, false); err != nil {
			return false, err
		}
		if same && (d.whole(l) || n.Entered && d.still(l)) {
			d.saw(l)
		}
		return d.shown || !same && l.Draft != "", nil
	})
	if err != nil || d.shown || !same {
		return false, err
	}
	if profile.Squeeze(d.before.Draft) != "" || d.before.State == profile.Unknown {
		return false, nil
	}
	return n.Entered && time.Since(n.At) < enteredLimit, nil
}

// whole reports whether the prompt holds the text and, as far as it shows, nothing else.
// The placeholder of a long paste counts: the note says whose it is.
func (d *delivery) whole(l profile.Look) bool {
	draft := profile.Squeeze(l.Draft)
	return draft == d.mine || d.Profile.Stands(l) || len(d.mine) > partial && draft != "" &&
		(strings.HasPrefix(d.mine, draft) || strings.HasSuffix(d.mine, draft))
}
