package source

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/download"
)

// GitHub begins the names of repositories whose releases can be installed.
const GitHub = "github.com/"

// Source is what a user names to install a plugin.
type Source struct {
	// One of these is set: File is a path, URL an address, Repository is OWNER/REPO on GitHub, and Plugin a
	// plugin of an index.
	File, URL, Repository, Plugin string
	// Index is the index of Plugin; empty: any.
	Index string
	// Version is that of a Repository or a Plugin; empty: the newest release.
	Version string
}

// Parse reads what a user names. A name that exists as a file is one, whatever it looks like.
func Parse(text string) (Source, error) {
	if _, err := os.Lstat(text); err == nil {
		return Source{File: text}, nil
	}
	if scheme, _, isURL := strings.Cut(text, "://"); isURL && !strings.ContainsAny(scheme, "/. ") {
		u, err := download.CheckAddress(text)
		if err != nil {
			return Source{}, err
		}
		if u.Fragment != "" {
			return Source{}, fmt.Errorf("%s: leave out what is behind '#'", text)
		}
		return Source{URL: text}, nil
	}
	name, version, hasVersion := strings.Cut(text, "@")
	if hasVersion && !catalog.ValidVersion(version) && !strings.Contains(version, ":") {
		return Source{}, fmt.Errorf("%q is not a version", version)
	}
	if repository, ok := strings.CutPrefix(name, GitHub); ok {
		if owner, repo, ok := strings.Cut(repository, "/"); !ok || !isWord(owner) || !isWord(repo) {
			return Source{}, fmt.Errorf("%s: expected %sOWNER/REPO, or %sOWNER/REPO@VERSION", text, GitHub, GitHub)
		}
		return Source{Repository: repository, Version: version}, nil
	}
	index, plugin, hasIndex := strings.Cut(name, "/")
	if !hasIndex {
		index, plugin = "", name
	}
	switch {
	case strings.HasPrefix(plugin, catalog.Prefix), strings.HasPrefix(text, "/"), strings.HasPrefix(text, "."):
		return Source{File: text}, nil
	case catalog.ValidName(plugin) && (!hasIndex || catalog.ValidName(index)) && !strings.Contains(version, ":"):
		return Source{Plugin: plugin, Index: index, Version: version}, nil
	case strings.Contains(text, ":"):
		return Source{}, fmt.Errorf("cannot install from %s: use https://, or add it as an index with 'swarm plugin index add'", text)
	}
	return Source{File: text}, nil
}

// isWord reports whether s can be the name of an owner or a repository.
func isWord(s string) bool {
	return s != "" && s[0] != '.' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// fileOf returns the name of the file at a URL, which is that of a plugin or of an archive.
func fileOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	name := path.Base(u.Path)
	if strings.ContainsAny(name, "/\\") || name == "." || name == ".." {
		return "", errors.New("it names no file")
	}
	return name, nil
}
