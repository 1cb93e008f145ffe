package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/index"
	"github.com/swarmhost/swarm/host/catalog/install"
	"github.com/swarmhost/swarm/host/catalog/signature"
)

// Resolver finds and downloads the files of sources.
type Resolver struct {
	Client  *download.Client
	Indexes index.Store
	// GitHubAPI is the address of the API of GitHub.
	GitHubAPI string
	// Keys are the keys of the user's config, by sources: "github.com/OWNER/REPO" or
	// "github.com/OWNER", the beginning of a URL, or the name of an index.
	Keys map[string]signature.Key
}

// Build is a file that can be installed.
type Build struct {
	// Name and Version are those of the plugin; empty if only the plugin itself can say them.
	Name, Version string
	catalog.Provenance
	// File is the name of the file, which says what is in it.
	File string
	// SHA256 is the hash that the source gives for it, in hex; empty: none.
	SHA256 string
	// Key is the one that has to have signed it; zero: none is known.
	Key signature.Key

	// signature is that of an index; if it is nil, the file next to Source has it.
	signature []byte
	// sums is the URL of a list of hashes that has to list File; empty: there is none.
	sums string
	// index and address are those of the index that has it, and build is its entry.
	index, address string
	build          index.Build
}

// Proof says what shows that a downloaded file is the one that was meant.
type Proof struct {
	// SHA256 is the hash of the file, in hex.
	SHA256 string
	// Expected says that the source or the user gave this hash.
	Expected bool
	// SignedBy is the known key that has signed it; zero: none has.
	SignedBy signature.Key
}

// Find returns the file of a source other than a file. Errors: [NoneError], and those of the index and
// of the server.
func (r Resolver) Find(ctx context.Context, s Source) (*Build, error) {
	switch {
	case s.URL != "":
		return r.ofURL(s.URL)
	case s.Repository != "":
		return r.ofRelease(ctx, s)
	default:
		return r.ofIndex(s)
	}
}

// NoneError says that a source has no file for this machine, or none at all.
type NoneError struct {
	// The field What is the source, and Want what was looked for in it.
	What, Want string
	// Has are the names of what there is.
	Has []string
}

func (e *NoneError) Error() string {
	if len(e.Has) == 0 {
		return fmt.Sprintf("%s has no %s", e.What, e.Want)
	}
	return fmt.Sprintf("%s has no %s; it has: %s", e.What, e.Want, strings.Join(e.Has, ", "))
}

func (r Resolver) ofURL(address string) (*Build, error) {
	file, err := fileOf(address)
	var n install.Name
	if err == nil {
		n, err = install.ParseName(file)
	}
	if err == nil && n.Version != "" {
		err = catalog.CheckPlatform("it", n.OS, n.Arch)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return &Build{Name: n.Plugin, Version: n.Version, File: file, Provenance: catalog.Provenance{Source: address}, Key: r.KeyOf(address)}, nil
}

// KeyOf returns the key of the config for a source, which may be the origin of an installed plugin: that of the longest name that it begins with.
func (r Resolver) KeyOf(source string) signature.Key {
	var best string
	for name := range r.Keys {
		rest, ok := strings.CutPrefix(source, name)
		// A name ends where a part of the source ends.
		if ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(name, "/")) && len(name) > len(best) {
			best = name
		}
	}
	return r.Keys[best]
}

func (r Resolver) ofIndex(s Source) (*Build, error) {
	found, err := r.offers(s)
	if err != nil {
		return nil, err
	}
	o := found[0]
	if len(found) > 1 {
		var names []string
		for _, f := range found {
			names = append(names, f.Origin())
		}
		return nil, fmt.Errorf("plugin '%s' is in several indexes: name one of %s", s.Plugin, strings.Join(names, ", "))
	}
	v := o.Newest(s.Version)
	if v == nil {
		none := &NoneError{What: "the index '" + o.Index + "'", Want: "release of '" + s.Plugin + "' for this machine"}
		if s.Version != "" {
			none.Want = fmt.Sprintf("version %s of '%s' for this machine", s.Version, s.Plugin)
		}
		for _, v := range o.Versions {
			for _, f := range v.Files {
				none.Has = append(none.Has, fmt.Sprintf("%s (%s/%s)", v.Version, f.OS, f.Arch))
			}
		}
		return nil, none
	}
	b := v.Here()
	file, err := fileOf(b.URL)
	if err == nil {
		// The installed file must have the name that the user asked for.
		var n install.Name
		if n, err = install.ParseName(file); err == nil && (n.Plugin != s.Plugin || n.Version != "" && n.Version != catalog.CleanVersion(v.Version)) {
			err = fmt.Errorf("it is not the file of '%s' %s", s.Plugin, v.Version)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", o.Origin(), b.URL, err)
	}
	build := &Build{
		Name: s.Plugin, Version: catalog.CleanVersion(v.Version), File: file, SHA256: b.SHA256, Key: o.Key, signature: []byte(b.Signature),
		Provenance: catalog.Provenance{Source: b.From(o.address), Origin: o.Origin()}, index: o.Index, address: o.address, build: *b,
	}
	if k := r.KeyOf(build.Source); !k.IsZero() {
		build.Key = k
	}
	return build, nil
}

// Offer is a plugin of an index that was added.
type Offer struct {
	Index string
	index.Plugin
	// Key is the one that its files have to be signed with: that of the user's config or that of the
	// index; zero: none.
	Key signature.Key

	address string
}

// Origin names the plugin of this index.
func (o Offer) Origin() string { return o.Index + "/" + o.Name }

// ChangedKeyError refuses a plugin of an index whose key is another one than the trusted one.
type ChangedKeyError struct {
	Index string
	index.Change
}

func (e *ChangedKeyError) Error() string {
	now := "it has none now"
	if !e.Now.IsZero() {
		now = "it is " + e.Now.String() + " now"
	}
	return fmt.Sprintf("the key of '%s' in the index '%s' has changed: it was %s, %s", e.Plugin, e.Index, e.Was, now)
}

// offers returns the plugins of that name in the indexes. Errors: [ChangedKeyError], [NoneError],
// [index.NotFoundError].
func (r Resolver) offers(s Source) ([]Offer, error) {
	names := r.Indexes.Names()
	if s.Index != "" {
		names = []string{s.Index}
	}
	var found []Offer
	for _, name := range names {
		a, err := r.Indexes.Get(name)
		if err != nil {
			return nil, err
		}
		for _, p := range a.Plugins {
			if p.Name != s.Plugin {
				continue
			}
			o := Offer{Index: name, Plugin: p, Key: r.Keys[name], address: a.Address}
			if o.Key.IsZero() {
				o.Key = p.Key
				if c := slices.IndexFunc(a.Changed, func(c index.Change) bool { return c.Plugin == p.Name }); c >= 0 {
					return nil, &ChangedKeyError{Index: name, Change: a.Changed[c]}
				}
			}
			found = append(found, o)
		}
	}
	switch {
	case found != nil:
		return found, nil
	case s.Index != "":
		return nil, &NoneError{What: "the index '" + s.Index + "'", Want: "plugin '" + s.Plugin + "'"}
	case len(names) == 0:
		return nil, fmt.Errorf("no file '%s' here, and no index that could have a plugin of that name: 'swarm plugin index add' adds one", s.Plugin)
	}
	return nil, fmt.Errorf("no file '%s' here, and no plugin of that name in the indexes %s", s.Plugin, strings.Join(names, ", "))
}

// Search returns the plugins of all indexes whose name or description has the word; empty: all. A plugin with
// a changed key is among them.
func (r Resolver) Search(word string) ([]Offer, error) {
	var found []Offer
	word = strings.ToLower(word)
	for _, name := range r.Indexes.Names() {
		a, err := r.Indexes.Get(name)
		if err != nil {
			return nil, err
		}
		for _, p := range a.Plugins {
			if strings.Contains(strings.ToLower(p.Name+"\n"+p.Description), word) {
				found = append(found, Offer{Index: name, Plugin: p, Key: p.Key, address: a.Address})
			}
		}
	}
	return found, nil
}

// Download writes the file of a build into dir and verifies it. want is the hash that the user gives, in
// hex; empty: none. Nothing is left in dir after an error.
func (r Resolver) Download(ctx context.Context, b *Build, want, dir string) (_ string, p Proof, err error) {
	path := filepath.Join(dir, b.File)
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}()
	if b.index != "" {
		err = r.Indexes.Write(ctx, b.index, b.address, b.build, path, install.MaxSize)
	} else {
		err = r.Client.File(ctx, b.Source, path, install.MaxSize)
	}
	if err != nil {
		return "", p, err
	}
	if p.SHA256, err = hashOf(path); err != nil {
		return "", p, err
	}
	for _, expected := range []struct{ sum, where string }{{want, "--sha256"}, {b.SHA256, b.Origin}} {
		switch {
		case expected.sum == "":
		case strings.EqualFold(expected.sum, p.SHA256):
			p.Expected = true
		default:
			return "", p, fmt.Errorf("the sha256 of %s is %s, expected %s (%s)", b.Source, p.SHA256, strings.ToLower(expected.sum), expected.where)
		}
	}
	if err := r.checkSums(ctx, b, p.SHA256); err != nil {
		return "", p, err
	}
	if b.Key.IsZero() {
		return path, p, nil
	}
	if err := r.verify(ctx, b, path); err != nil {
		return "", p, err
	}
	p.SignedBy = b.Key
	return path, p, nil
}

// checkSums compares the hash with that of the release's list, which finds a damaged file.
func (r Resolver) checkSums(ctx context.Context, b *Build, sum string) error {
	if b.sums == "" {
		return nil
	}
	list, err := r.Client.Bytes(ctx, b.sums, install.MaxSums)
	if err != nil {
		return err
	}
	switch want, err := install.FindSum(strings.NewReader(string(list)), b.File); {
	case err != nil:
		return fmt.Errorf("%s: %w", b.sums, err)
	case want == "":
		return fmt.Errorf("%s does not list %s", b.sums, b.File)
	case !strings.EqualFold(want, sum):
		return fmt.Errorf("the sha256 of %s is %s, expected %s (%s)", b.Source, sum, strings.ToLower(want), b.sums)
	}
	return nil
}

// verify checks the signature of a file by the known key.
func (r Resolver) verify(ctx context.Context, b *Build, path string) error {
	text := b.signature
	if len(text) == 0 && b.index == "" {
		var err error
		if text, err = r.Client.Bytes(ctx, b.Source+signature.Suffix, signature.MaxSize); err != nil && !errors.Is(err, download.ErrNotFound) {
			return err
		}
	}
	if len(text) == 0 {
		return fmt.Errorf("%s is not signed, but this source has the key %s: a file without its signature is refused", b.Source, b.Key.ID())
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := b.Key.Verify(f, text); err != nil {
		return fmt.Errorf("the signature of %s is refused: %w", b.Source, err)
	}
	return nil
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
