package stats

import (
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0.0%": Share(new(0.0)), "7.5%": Share(new(0.075)), "9.9%": Share(new(0.0994)), "10%": Share(new(0.0996)), "120%": Share(new(1.2)),
		"0B": Size(new(int64(0))), "1023B": Size(new(int64(1023))), "1.0KiB": Size(new(int64(1024))), "9.9KiB": Size(new(int64(10188))),
		"10KiB": Size(new(int64(10189))), "999KiB": Size(new(int64(1023487))), "1.0MiB": Size(new(int64(1<<20 - 1))),
		"64MiB": Size(new(int64(64 << 20))), "8192PiB": Size(new(int64(1<<63 - 1))),
		"0.00s": CPUTime(new(time.Duration(0))), "0.42s": CPUTime(new(420 * time.Millisecond)), "10.0s": CPUTime(new(9996 * time.Millisecond)),
		"1m00s": CPUTime(new(time.Minute)), "2m31s": CPUTime(new(151 * time.Second)), "5h02m": CPUTime(new(5*time.Hour + 2*time.Minute)),
		"3d04h": CPUTime(new(76 * time.Hour)), "7": Count(new(7)),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, got := range []string{Share(nil), Size(nil), CPUTime(nil), Count(nil)} {
		if got != None {
			t.Errorf("nothing is written as %s", got)
		}
	}
}
