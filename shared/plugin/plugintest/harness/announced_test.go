package harness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

const announced = `{"type":"object","properties":{"pull":{"type":"string","default":"missing"},"image":{"type":"string"}}}`

// TestAnnouncedSettings: a plugin that does not keep to what it announces fails the case, and one that
// does passes.
func TestAnnouncedSettings(t *testing.T) {
	t.Parallel()
	right := func(s map[string]any) error {
		for key := range s {
			if key != "pull" && key != "image" {
				return fmt.Errorf("%w: %s", swarm.ErrInvalidConfig, key)
			}
		}
		return nil
	}
	for name, test := range map[string]struct {
		settings  string
		configure func(map[string]any) error
		broken    string
	}{
		"right": {announced, right, ""},
		"its default is refused": {announced, func(s map[string]any) error {
			if _, given := s["pull"]; given {
				return fmt.Errorf("%w: pull", swarm.ErrInvalidConfig)
			}
			return right(s)
		}, "Configure with the defaults"},
		"an unknown setting is accepted": {announced, func(map[string]any) error { return nil }, "unknown setting"},
		"no schema":                      {`{"type":"array"}`, right, "read the schema"},
		"given settings are forgotten": {announced, func(s map[string]any) error {
			if s["image"] != "alpine" {
				return fmt.Errorf("%w: image", swarm.ErrInvalidConfig)
			}
			return right(s)
		}, ""},
	} {
		problems, _ := Record(t.Context(), name, func(t T) {
			checkSettings(NewKit(t, "rule"), client.Info{Settings: []byte(test.settings)}, []byte(`{"image":"alpine"}`), test.configure)
		})
		if got := strings.Join(problems, "\n"); (got == "") != (test.broken == "") || !strings.Contains(got, test.broken) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestAnnouncedSchemas: a schema that a host can't read fails the case.
func TestAnnouncedSchemas(t *testing.T) {
	t.Parallel()
	for options, broken := range map[string]bool{
		announced: false, `{"type":"object"}`: true, `{"type":"object","properties":{"a b":{}}}`: true, `{`: true,
	} {
		problems, _ := Record(t.Context(), options, func(t T) {
			checkSchemas(NewKit(t, "rule"), client.Info{Settings: []byte(announced), Options: []byte(options)})
		})
		if (len(problems) > 0) != broken {
			t.Errorf("%s: %q", options, problems)
		}
	}
}
