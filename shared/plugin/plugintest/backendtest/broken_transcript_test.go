package backendtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/fake"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestBrokenTranscripts: a local backend whose transcripts break one rule fails the
// case of that rule, and no other.
func TestBrokenTranscripts(t *testing.T) {
	t.Parallel()
	spoiled := func(spoil func(s swarm.Spec, name string)) hooks {
		return hooks{spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			h, err := b.right(ctx, s)
			if err == nil {
				spoil(s, filepath.Join(s.Local.RunDir, swarm.TranscriptFile))
			}
			return h, err
		}}
	}
	for name, h := range map[string]hooks{
		"": {},
		"transcript-is-complete": spoiled(func(s swarm.Spec, name string) {
			if s.Transcript {
				_ = os.Chmod(name, 0o644)
			}
		}),
		"transcript-is-in-order": spoiled(func(s swarm.Spec, name string) {
			if s.Command[0] == string(script.Mixed) {
				b, _ := os.ReadFile(name)
				text := strings.Replace(string(b), "line 1\nline 2\n", "line 2\nline 1\n", 1)
				_ = os.WriteFile(name, []byte(text), 0o600)
			}
		}),
		"transcript-keeps-the-newest": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			s.OutputLimit = 0
			return b.right(ctx, s)
		}},
		"transcript-is-asked-for": {spawn: func(b *broken, ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
			s.Transcript = true
			return b.right(ctx, s)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := fake.NewEngine()
			got := failures(t, Backend{
				New: func(T) swarm.Backend {
					return &broken{
						Backend: engine.Backend(), hooks: &h,
						looks: map[string]int{}, kills: map[string]int{}, busy: map[string]bool{},
					}
				},
				Local:   true,
				Command: func(s script.Script) []string { return []string{string(s)} },
			}, func(c testCase) bool { return strings.HasPrefix(c.name, "transcript-") })
			var want []string
			if name != "" {
				want = []string{name}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("failed cases (-want +got):\n%s", diff)
			}
		})
	}
}
