package config

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	good := map[string]time.Duration{
		"0": 0, "90": 90 * time.Second, "90s": 90 * time.Second, "5m": 5 * time.Minute,
		"1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "9223372036": 9223372036 * time.Second,
	}
	for s, want := range good {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-1", "-1s", "5 m", "soon", "1e3", "9223372037", "99999999999999999999", "300000000h"} {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	good := map[string]int64{
		"1": 1, "10B": 10, "64MiB": 64 << 20, "64 mib": 64 << 20, "64M": 64 << 20, "500KB": 500000, "1GiB": 1 << 30, "2T": 2 << 40,
	}
	for s, want := range good {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "1.5M", "MiB", "64XB", "9223372036854775807K"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "0s", 5 * time.Second: "5s", 5 * time.Minute: "5m", time.Hour: "1h", 90 * time.Minute: "1h30m", 3605 * time.Second: "1h0m5s"} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is shown as %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{64 << 20: "64MiB", 1: "1", 1536: "1536", 3 << 10: "3KiB", 1 << 40: "1TiB"} {
		if got := FormatSize(n); got != want {
			t.Errorf("%d is shown as %q, want %q", n, got, want)
		}
	}
}
