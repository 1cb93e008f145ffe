package tool

import (
	"encoding/json"
	"fmt"
	"time"
)

// timestampFormat is RFC 3339 in UTC, with milliseconds always, as JavaScript's
// toISOString writes it.
const timestampFormat = "2006-01-02T15:04:05.000Z"

// Timestamp is a time in an answer.
type Timestamp struct{ time.Time }

// String writes the time as it is in JSON.
func (t Timestamp) String() string { return t.UTC().Format(timestampFormat) }

// MarshalJSON writes it as [Timestamp.String] does.
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
