// Package humane writes durations, sizes, times and commands as people and models need
// them. Every layer may import it.
package humane

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Age formats a duration in its largest unit, such as "5m". A negative one is "0s".
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}

// Bytes formats a number of bytes in at most three digits, with binary units: "512B",
// "3.2MiB", "17GiB".
func Bytes(bytes int64) string {
	n := float64(bytes)
	if n < 1024 {
		return fmt.Sprintf("%.0fB", n)
	}
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		switch n /= 1024; {
		case n < 9.95:
			return fmt.Sprintf("%.1f%s", n, unit)
		case n < 999.5:
			return fmt.Sprintf("%.0f%s", n, unit)
		}
	}
	return fmt.Sprintf("%.0fPiB", n/1024)
}

// Share formats a share of one processor in percent, such as "7.5%" or "120%".
func Share(share float64) string {
	if share = max(share, 0); share < 0.0995 {
		return fmt.Sprintf("%.1f%%", 100*share)
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// CPUTime formats a time on processors, of which small differences matter, in three digits
// or two units: "0.42s", "31.5s", "2m31s", "5h02m", "3d04h".
func CPUTime(d time.Duration) string {
	if d = max(d, 0).Round(10 * time.Millisecond); d < 10*time.Second {
		return fmt.Sprintf("%.2fs", d.Seconds())
	}
	switch d = d.Round(100 * time.Millisecond); {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// Command writes a command as a shell takes it.
func Command(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = Word(word)
	}
	return strings.Join(words, " ")
}

// Word writes a word of a command as a shell takes it.
func Word(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:=@%+,-", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

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

// A message may quote an argument of any length. Its beginning says what failed, its end why.
const (
	longestMessage = 2000
	messageHead    = 1200
	messageTail    = 600
)

// Brief returns a message without its middle if it is too long to be read.
func Brief(text string) string {
	if len(text) <= longestMessage {
		return text
	}
	head := strings.ToValidUTF8(text[:messageHead], "")
	tail := strings.ToValidUTF8(text[len(text)-messageTail:], "")
	return fmt.Sprintf("%s … (%s left out) … %s", head, Bytes(int64(len(text)-messageHead-messageTail)), tail)
}
