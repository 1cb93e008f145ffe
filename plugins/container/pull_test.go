package container

import (
	"testing"

	"github.com/moby/moby/api/types/jsonstream"
)

// TestDownload words what Docker and Podman report of a download.
func TestDownload(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	d := &download{image: "i", layers: make(map[string]layer)}
	at := func(have, size int64) *jsonstream.Progress { return &jsonstream.Progress{Current: have, Total: size} }
	for _, step := range []struct {
		m    jsonstream.Message
		want string
	}{
		{jsonstream.Message{Status: "Pulling from library/i"}, "fetching the image 'i'"},
		{jsonstream.Message{ID: "a", Status: "Pulling fs layer"}, "fetching the image 'i'"},
		{jsonstream.Message{ID: "b", Status: "Pulling fs layer"}, "fetching the image 'i'"},
		{jsonstream.Message{ID: "c", Status: "Already exists"}, "fetching the image 'i'"},
		{jsonstream.Message{ID: "a", Status: "Downloading", Progress: at(mib, 2*mib)}, "fetching the image 'i': 1.0MiB"},
		{jsonstream.Message{ID: "b", Status: "Downloading", Progress: at(mib, 4*mib)}, "fetching the image 'i': 2.0MiB of 6.0MiB"},
		{jsonstream.Message{ID: "a", Status: "Download complete"}, "fetching the image 'i': 3.0MiB of 6.0MiB"},
		{jsonstream.Message{ID: "a", Status: "Extracting", Progress: at(1, 2*mib)}, "fetching the image 'i': 3.0MiB of 6.0MiB"},
		{jsonstream.Message{ID: "b", Status: "Download complete"}, "unpacking the image 'i', 6.0MiB"},
		{jsonstream.Message{ID: "a", Status: "Pull complete"}, "unpacking the image 'i', 6.0MiB"},
	} {
		d.take(step.m)
		if got := d.String(); got != step.want {
			t.Errorf("after %q of %s: %q, want %q", step.m.Status, step.m.ID, got, step.want)
		}
	}
}
