package humane

import (
	"encoding/json"
	"fmt"
	"time"
)

// TimestampFormat is RFC 3339 in UTC, always with milliseconds, as JavaScript's toISOString
// writes it.
const TimestampFormat = "2006-01-02T15:04:05.000Z"

// Timestamp is a time in JSON, in [TimestampFormat]. The zero value is the zero time: fields
// that may lack a time are marked with omitzero.
type Timestamp struct{ time.Time }

// At returns t as a [Timestamp].
func At(t time.Time) Timestamp { return Timestamp{t} }

// String returns the time in [TimestampFormat].
func (t Timestamp) String() string { return t.UTC().Format(TimestampFormat) }

// MarshalJSON writes the time as [Timestamp.String] does.
func (t Timestamp) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads any RFC 3339 time.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("not a time: %w", err)
	}
	t.Time = at
	return nil
}
