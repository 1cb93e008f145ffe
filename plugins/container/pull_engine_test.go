//go:build container

package container_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/container/enginetest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workertest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestPull fetches images from a registry.
func TestPull(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		var log bytes.Buffer
		c := settings(e)
		c.Pull = "missing"
		b, err := container.New(c, os.Environ(), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		if err != nil {
			t.Fatal(err)
		}
		with := func(options ...string) swarm.Spec {
			spec := specOf(t, "echo", "hello")
			spec.Options = map[string]string{"image": e.Registry.Address + "/" + enginetest.Whole}
			for i := 0; i < len(options); i += 2 {
				spec.Options[options[i]] = options[i+1]
			}
			return spec
		}
		for i, test := range []struct {
			pull   string
			served int
		}{{"missing", 1}, {"missing", 1}, {"always", 1}, {"never", 1}} {
			h := workertest.Spawn(t, b, with("pull", test.pull))
			if st := workertest.Ended(t, b, h); st.Exit == nil || st.Exit.Code != 0 {
				t.Errorf("%d: %+v, %+v", i, st, st.Exit)
			}
			if n := e.Registry.Served(enginetest.Whole); n != test.served {
				t.Errorf("%d: the layer was fetched %d times, want %d", i, n, test.served)
			}
		}
		if said := log.String(); !strings.Contains(said, "fetching the image") {
			t.Errorf("it says %s", said)
		}
	})
}

// TestPullFails can't fetch images, and says why in one line.
func TestPullFails(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		c := settings(e)
		c.Pull = "missing"
		b := open(t, c)
		for image, text := range map[string]string{
			"nothing":                 "there is no image",
			enginetest.Whole + ":1.0": "there is no image",
			enginetest.Private:        "no right to fetch",
			enginetest.Cut:            "cut off",
			enginetest.Whole + ":a b": "not the name of an image",
			"Capital":                 "not the name of an image",
		} {
			spec := specOf(t, "echo", "hello")
			spec.Options = map[string]string{"image": e.Registry.Address + "/" + image}
			begun := time.Now()
			_, err := b.Spawn(t.Context(), spec)
			t.Logf("%s, %v: %v", image, time.Since(begun), err)
			if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), text) || strings.ContainsAny(err.Error(), "\n\t") {
				t.Errorf("%s: %v", image, err)
			}
			l := swarm.Lookup{ID: spec.ID, Name: spec.Name, Local: spec.Local}
			if _, err := b.Find(t.Context(), l); !errors.Is(err, swarm.ErrNotFound) {
				t.Errorf("%s, afterwards: %v", image, err)
			}
		}
	})
}

// TestPullStalls gives up on a registry that sends no more when the caller does, and
// leaves nothing.
func TestPullStalls(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		c := settings(e)
		c.Pull = "missing"
		b := open(t, c)
		spec := specOf(t, "echo", "hello")
		spec.Options = map[string]string{"image": e.Registry.Address + "/" + enginetest.Stalled}
		ctx, cancel := context.WithTimeout(t.Context(), workertest.Limit)
		defer cancel()
		go func() {
			workertest.Until(t, "the layer is fetched", func() bool { return e.Registry.Served(enginetest.Stalled) > 0 })
			cancel()
		}()
		if _, err := b.Spawn(ctx, spec); !errors.Is(err, context.Canceled) {
			t.Errorf("spawn: %v", err)
		}
		api, err := e.Client()
		if err != nil {
			t.Fatal(err)
		}
		list, err := api.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", "swarm.worker="+spec.ID)})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("the engine has %+v, %v", list.Items, err)
		}
		if _, err := api.ImageInspect(t.Context(), spec.Options["image"]); err == nil {
			t.Error("the engine has the image")
		}
	})
}

// TestPullProgress reports how far a download has come, until its spawn ends.
func TestPullProgress(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		c := settings(e)
		c.Pull = "missing"
		b := open(t, c)
		spec := specOf(t, "echo", "hello")
		spec.Options = map[string]string{"image": e.Registry.Address + "/" + enginetest.Slow}
		spawned := make(chan error, 1)
		go func() {
			_, err := b.Spawn(t.Context(), spec)
			spawned <- err
		}()
		var texts []string
		workertest.Until(t, "it reports what it waits for", func() bool {
			if err := b.Progress(t.Context(), spec.ID, func(text string) error {
				texts = append(texts, text)
				return nil
			}); err != nil {
				t.Errorf("Progress: %v", err)
			}
			return len(texts) > 0
		})
		// Progress has returned, so the spawn has ended, or nearly.
		if err := <-spawned; err != nil {
			t.Errorf("spawn: %v", err)
		}
		t.Logf("%q", texts)
		for i, text := range texts {
			if !strings.Contains(text, "ing the image '"+spec.Options["image"]+"'") || i > 0 && text == texts[i-1] {
				t.Errorf("it reports %q", texts)
			}
		}
		err := b.Progress(t.Context(), spec.ID, func(text string) error {
			t.Errorf("afterwards it reports %q", text)
			return nil
		})
		if err != nil {
			t.Errorf("Progress afterwards: %v", err)
		}
	})
}
