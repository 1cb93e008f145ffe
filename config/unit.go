package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var errDuration = errors.New(`expected a duration such as 90, 90s, 5m or 1h30m`)

// ParseDuration reads a duration as people write it on the command line and in
// a file: "90" is seconds, all else as [time.ParseDuration]. It is not negative.
func ParseDuration(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		return seconds(int64(n))
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errDuration
	}
	return d, nil
}

func seconds(n int64) (time.Duration, error) {
	if n < 0 || n > int64(math.MaxInt64/time.Second) {
		return 0, errDuration
	}
	return time.Duration(n) * time.Second, nil
}

// units are tried in this order, so that a longer one comes before its ending.
var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
	{"B", 1},
}

// cutUnit returns the number before a unit, and how many bytes the unit is; 1 if there is
// none.
func cutUnit(s string) (number string, bytes int64) {
	for _, u := range units {
		if at := len(s) - len(u.name); at >= 0 && strings.EqualFold(s[at:], u.name) {
			return strings.TrimSpace(s[:at]), u.bytes
		}
	}
	return strings.TrimSpace(s), 1
}

// ParseSize reads a number of bytes such as "64MiB"; K, M, G and T alone are
// binary, as in most tools. It is greater than 0.
func ParseSize(s string) (int64, error) {
	number, unit := cutUnit(s)
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, errors.New("expected a size such as 64MiB, 500KB or 1GiB")
	}
	return n * unit, nil
}

// minMemory is the least limit of memory, in bytes.
const minMemory = 1 << 20

// ParseMemory reads a limit of memory such as "2g", "512MiB" or "1.5GiB", of at least 1 MiB.
func ParseMemory(s string) (int64, error) {
	number, unit := cutUnit(s)
	n, err := strconv.ParseFloat(number, 64)
	bytes := n * float64(unit)
	if err != nil || !(bytes >= minMemory && bytes < math.MaxInt64/2) {
		return 0, errors.New("expected a size such as 2g or 512MiB, of at least 1MiB")
	}
	return int64(bytes), nil
}

// ParseCPUs reads a number of CPUs such as "1.5".
func ParseCPUs(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, errCPUs
	}
	return checkCPUs(n)
}

var errCPUs = errors.New("expected a number of CPUs from 0.01 to 10000, such as 1.5")

func checkCPUs(n float64) (float64, error) {
	if !(n >= 0.01 && n <= 10000) {
		return 0, errCPUs
	}
	return n, nil
}

// FormatSize is the inverse of [ParseSize], with the largest binary unit that
// loses nothing.
func FormatSize(n int64) string {
	for i := 3; i >= 0; i-- {
		if u := units[i]; n > 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// FormatDuration is the inverse of [ParseDuration], as short as it gets: "5m",
// not "5m0s".
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
