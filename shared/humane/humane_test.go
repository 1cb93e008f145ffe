package humane

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 90 * time.Second: "1m", 119 * time.Minute: "1h",
		47 * time.Hour: "47h", 50 * time.Hour: "2d", 1000 * time.Hour: "41d",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		-1: "0B", 0: "0B", 999: "999B", 1000: "1.0K", 1024: "1.0K", 1536: "1.5K", 10 << 10: "10K", 1023 << 10: "1.0M",
		64 << 20: "64M", 3 << 30: "3.0G", 1 << 62: "4.0E",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
