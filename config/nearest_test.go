package config

import "testing"

func TestNearestKey(t *testing.T) {
	t.Parallel()
	keys := []string{"defaults", "defaults.backend", "defaults.tags", "kill.timeout", "log.limit"}
	for key, want := range map[string]string{
		"default": "defaults", "defaults.bakend": "defaults.backend", "defualts.tags": "defaults.tags",
		"timeout": "kill.timeout", "bakend": "defaults.backend", "kill.limti": "log.limit",
		"unknown.table": "", "x": "",
	} {
		if got := nearestKey(key, keys); got != want {
			t.Errorf("near %q is %q, want %q", key, got, want)
		}
	}
}
