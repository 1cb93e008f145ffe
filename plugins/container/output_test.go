package container

import (
	"errors"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestFrames reads logs as engines write them.
func TestFrames(t *testing.T) {
	t.Parallel()
	const out, err = "\x01\x00\x00\x00\x00\x00\x00\x03ab\n", "\x02\x00\x00\x00\x00\x00\x00\x02cd"
	for name, test := range map[string]struct{ log, want, text string }{
		"both streams": {out + err, "stdout ab.stderr cd", ""},
		"an error":     {out + `{"cause":"no such container","message":"gone","response":500}`, "stdout ab.", `broke the log off: {"cause":"no such`},
		"too large":    {out + "\x01\x00\x00\x00\x7f\x00\x00\x00", "stdout ab.", "bytes"},
		"cut off":      {out + "\x01\x00\x00", "stdout ab.", "unexpected EOF"},
	} {
		var got strings.Builder
		e := readFrames(strings.NewReader(test.log), func(p swarm.Output) error {
			got.WriteString(string(p.Stream) + " " + string(p.Data))
			if !p.Partial {
				got.WriteString(".")
			}
			return nil
		})
		if got.String() != test.want || (e == nil) != (test.text == "") || e != nil && !strings.Contains(e.Error(), test.text) {
			t.Errorf("%s: %q, %v", name, got.String(), e)
		}
		if strings.Contains(test.text, "broke") && !errors.Is(e, swarm.ErrUnavailable) {
			t.Errorf("%s: %v", name, e)
		}
	}
}
