package enginetest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"
)

// The names of the images of a [Registry], which have no tag but latest.
const (
	// Whole can be fetched.
	Whole = "whole"
	// Cut is cut off in the middle of its layer, each time.
	Cut = "cut"
	// Stalled comes to a halt in the middle of its layer.
	Stalled = "stalled"
	// Slow comes to a halt for [SlowFor] in the middle of its layer.
	Slow = "slow"
	// Private can't be fetched.
	Private = "private"
)

// SlowFor is how much longer than others an image takes that is slow to come.
const SlowFor = 4 * time.Second

// Registry is a registry of images on this machine, on a port of its own.
type Registry struct {
	// Address is its host and port, with which the names of its images begin.
	Address string

	server *http.Server
	leave  chan struct{}
	images map[string]*image

	mu     sync.Mutex
	served map[string]int // how often a layer was asked for, by the name of the image
}

// mediaTypes of what a registry holds.
const (
	typeManifest = "application/vnd.docker.distribution.manifest.v2+json"
	typeConfig   = "application/vnd.docker.container.image.v1+json"
	typeLayer    = "application/vnd.docker.image.rootfs.diff.tar.gzip"
)

// image is an image of a registry. Each has a layer of its own, which engines have to fetch.
type image struct {
	manifest []byte
	blobs    map[string][]byte // by their digests
	layer    string            // a digest
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func newImage(name string) (*image, error) {
	files, err := files(name)
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.NoCompression)
	if err == nil {
		_, err = z.Write(files)
	}
	if err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "created": time.Unix(0, 0).UTC(), "config": map[string]any{},
		"history": []map[string]any{{"created": time.Unix(0, 0).UTC()}},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{digest(files)}},
	})
	if err != nil {
		return nil, err
	}
	i := &image{layer: digest(zipped.Bytes())}
	i.blobs = map[string][]byte{digest(config): config, i.layer: zipped.Bytes()}
	about := func(kind string, data []byte) map[string]any {
		return map[string]any{"mediaType": kind, "size": len(data), "digest": digest(data)}
	}
	i.manifest, err = json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": typeManifest,
		"config": about(typeConfig, config), "layers": []any{about(typeLayer, zipped.Bytes())},
	})
	return i, err
}

func newRegistry() (*Registry, error) {
	r := &Registry{leave: make(chan struct{}), served: make(map[string]int), images: make(map[string]*image)}
	for _, name := range []string{Whole, Cut, Stalled, Slow} {
		i, err := newImage(name)
		if err != nil {
			return nil, err
		}
		r.images[name] = i
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // returns at once
	if err != nil {
		return nil, err
	}
	r.Address = l.Addr().String()
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: startLimit}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

func (r *Registry) close() {
	close(r.leave)
	_ = r.server.Close()
}

// Served returns how often the layer of an image was asked for.
func (r *Registry) Served(image string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.served[image]
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q}]}`, code, strings.ToLower(strings.ReplaceAll(code, "_", " ")))
}

// ServeHTTP serves what engines ask of a registry to fetch an image.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case len(parts) == 1:
		w.WriteHeader(http.StatusOK)
		return
	case len(parts) != 4:
		refuse(w, http.StatusNotFound, "UNSUPPORTED")
		return
	}
	name, kind, ref := parts[1], parts[2], parts[3]
	i := r.images[name]
	switch {
	case name == Private:
		refuse(w, http.StatusForbidden, "DENIED")
	case i == nil:
		refuse(w, http.StatusNotFound, "NAME_UNKNOWN")
	case kind == "manifests" && (ref == "latest" || ref == digest(i.manifest)):
		w.Header().Set("Content-Type", typeManifest)
		w.Header().Set("Docker-Content-Digest", digest(i.manifest))
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(i.manifest))
	case kind == "manifests":
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN")
	case kind == "blobs" && i.blobs[ref] != nil:
		r.serveBlob(w, req, name, ref)
	default:
		refuse(w, http.StatusNotFound, "BLOB_UNKNOWN")
	}
}

func (r *Registry) serveBlob(w http.ResponseWriter, req *http.Request, name, ref string) {
	i := r.images[name]
	data := i.blobs[ref]
	w.Header().Set("Content-Type", "application/octet-stream")
	if ref != i.layer || req.Method != http.MethodGet {
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(data))
		return
	}
	r.mu.Lock()
	r.served[name]++
	r.mu.Unlock()
	if name == Whole {
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(data))
		return
	}
	if req.Header.Get("Range") != "" {
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	_, _ = w.Write(data[:len(data)/2])
	_ = http.NewResponseController(w).Flush()
	if name == Slow {
		select {
		case <-time.After(SlowFor):
			_, _ = w.Write(data[len(data)/2:])
		case <-r.leave:
		case <-req.Context().Done():
		}
		return
	}
	if name == Stalled {
		select {
		case <-r.leave:
		case <-req.Context().Done():
		}
	}
	panic(http.ErrAbortHandler)
}
