package statedir

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"
)

// digits are those of base 32 in the order of their bytes, so that ids sort as
// the numbers that they stand for; without the letters that look like digits.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// The digits of an id: milliseconds, enough until the year 3084, then chance.
const (
	idTime   = 9
	idRandom = 7
)

// NewID returns an id that was never used before, and sorts after those that
// were made an instant before.
func NewID(now time.Time) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base32(uint64(now.UnixMilli()), idTime) + base32(binary.BigEndian.Uint64(b[:]), idRandom)
}

// base32 returns the lowest n digits of v.
func base32(v uint64, n int) string {
	out := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		out[i] = digits[v&31]
		v >>= 5
	}
	return string(out)
}

// IsID reports whether a text from elsewhere can be the id of a worker, and so the
// name of its run directory.
func IsID(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz-") == ""
}
