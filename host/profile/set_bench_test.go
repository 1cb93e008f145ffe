package profile

import (
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/profile/bundle"
)

// BenchmarkLoad is what an installed bundle adds to a call that needs one profile.
func BenchmarkLoad(b *testing.B) {
	d := Dirs{Bundle: filepath.Join(b.TempDir(), "profiles.tar")}
	if err := changed(newer, nil).Write(d.Bundle, bundle.Origin{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := d.Load(); err != nil {
			b.Fatal(err)
		}
	}
}
