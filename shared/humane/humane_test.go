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
		0: "0B", 1023: "1023B", 1024: "1.0KiB", 10 << 10: "10KiB", 1023 << 10: "1.0MiB", 64 << 20: "64MiB", 3 << 30: "3.0GiB", 1 << 60: "1024PiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{-1: "0.0%", 0: "0.0%", 0.075: "7.5%", 0.0994: "9.9%", 0.0996: "10%", 1.2: "120%"} {
		if got := Share(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

func TestCPUTime(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0.00s", 420 * time.Millisecond: "0.42s", 9996 * time.Millisecond: "10.0s", 59960 * time.Millisecond: "1m00s", time.Minute: "1m00s",
		151 * time.Second: "2m31s", 5*time.Hour + 2*time.Minute: "5h02m", 76 * time.Hour: "3d04h", -time.Second: "0.00s",
	} {
		if got := CPUTime(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	got := Command([]string{"sh", "-c", "echo it's", "", "a=b"})
	if want := `sh -c 'echo it'\''s' '' a=b`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
