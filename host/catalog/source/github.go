package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/install"
)

// maxRelease bounds the size of the description of a release, in bytes.
const maxRelease = 4 << 20

// release is a release of a repository, as the API of GitHub has it.
type release struct {
	Tag    string  `json:"tag_name"`
	Assets []asset `json:"assets"`
}

// asset is a file of a release.
type asset struct {
	Name string `json:"name"`
	URL  string `json:"browser_download_url"`
}

// ofRelease returns the file for this machine of a release on GitHub: of the newest release, or of the
// one that is tagged with the version, with or without a "v" in front of it.
func (r Resolver) ofRelease(ctx context.Context, s Source) (*Build, error) {
	rel, err := r.release(ctx, s)
	if err != nil {
		return nil, err
	}
	origin := GitHub + s.Repository
	what := fmt.Sprintf("the release %s of %s", rel.Tag, origin)
	var found *Build
	none := &NoneError{What: what, Want: fmt.Sprintf("archive swarm-plugin-NAME_%s_%s_%s.tar.gz", catalog.CleanVersion(rel.Tag), runtime.GOOS, runtime.GOARCH)}
	for _, a := range rel.Assets {
		n, err := install.ParseName(a.Name)
		if err != nil || n.Version == "" {
			continue
		}
		none.Has = append(none.Has, a.Name)
		switch {
		case catalog.CheckPlatform("", n.OS, n.Arch) != nil:
		case n.Version != catalog.CleanVersion(rel.Tag):
			return nil, fmt.Errorf("%s has an archive of another version: %s", what, a.Name)
		case found != nil && found.Name != n.Plugin:
			return nil, fmt.Errorf("%s has several plugins: give the URL of one of %s, %s", what, found.File, a.Name)
		case found == nil || n.OS == runtime.GOOS && n.Arch == runtime.GOARCH:
			found = &Build{
				Name: n.Plugin, Version: n.Version, File: a.Name, Key: r.KeyOf(origin),
				Provenance: catalog.Provenance{Source: a.URL, Origin: origin},
			}
		}
	}
	if found == nil {
		return nil, none
	}
	if list := slices.IndexFunc(rel.Assets, func(a asset) bool { return a.Name == install.SumsFile }); list >= 0 {
		found.sums = rel.Assets[list].URL
	}
	return found, nil
}

func (r Resolver) release(ctx context.Context, s Source) (*release, error) {
	paths := []string{"latest"}
	if s.Version != "" {
		bare := catalog.CleanVersion(s.Version)
		paths = []string{"tags/" + url.PathEscape("v"+bare), "tags/" + url.PathEscape(bare)}
	}
	for _, path := range paths {
		address := strings.TrimSuffix(r.GitHubAPI, "/") + "/repos/" + s.Repository + "/releases/" + path
		text, err := r.Client.Bytes(ctx, address, maxRelease)
		if errors.Is(err, download.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var rel release
		if err := json.Unmarshal(text, &rel); err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		if !catalog.ValidVersion(catalog.CleanVersion(rel.Tag)) {
			return nil, fmt.Errorf("%s%s: the tag %q of the release is not a version", GitHub, s.Repository, rel.Tag)
		}
		return &rel, nil
	}
	want := "release"
	if s.Version != "" {
		want += " " + s.Version
	}
	return nil, &NoneError{What: GitHub + s.Repository, Want: want}
}
