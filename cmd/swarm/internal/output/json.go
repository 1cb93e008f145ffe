package output

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/swarmhost/swarm/shared/safetext"
)

// OrNull is null for the zero value.
func OrNull[V comparable](v V) *V {
	var zero V
	if v == zero {
		return nil
	}
	return &v
}

func TimeJSON(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(t.UTC().Format(time.RFC3339Nano))
}

// PrintJSON is all that a verb with --json writes to stdout.
func (p *Printer) PrintJSON(v any) error { return p.writeJSON(v, "  ") }

// PrintJSONLine writes one object of a stream that a verb prints with --json.
func (p *Printer) PrintJSONLine(v any) error { return p.writeJSON(v, "") }

// writeJSON writes v with all control characters escaped, so that it is safe for a
// terminal.
func (p *Printer) writeJSON(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := p.Out.Write(safetext.JSON(b.Bytes()))
	return err
}
