// Package scaffold writes the plugin that an author starts with: a small one that works and
// passes the conformance kit, with its tests.
//
// Only cmd/swarm imports it. docs/examples holds its output, which CI runs.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/sdk/typescript"
	"github.com/swarmhost/swarm/shared/proto"
	"github.com/swarmhost/swarm/shared/swarm"
)

//go:embed all:templates
var templates embed.FS

// Kinds returns the kinds of plugins that have a template, the usual one first.
func Kinds() []string { return []string{"backend", "workspace", "tools", "notifier"} }

// Languages returns the languages that have a template of a backend, the usual one first.
func Languages() []string { return []string{"go", "python", "typescript"} }

// folders are the templates by kind and language. Together they hold the files of a plugin, but for those
// of [Plugin.wire].
var folders = map[[2]string][]string{
	{"backend", "go"}:         {"go-base", "go"},
	{"backend", "python"}:     {"python"},
	{"backend", "typescript"}: {"typescript-base", "typescript"},
	{"workspace", "go"}:       {"go-base", "workspace-go"},
	{"tools", "go"}:           {"go-base", "tools-go"},
	{"tools", "typescript"}:   {"typescript-base", "tools-typescript"},
	{"notifier", "go"}:        {"go-base", "notifier-go"},
}

// languagesOf returns the languages that have a template of a kind.
func languagesOf(kind string) []string {
	return slices.DeleteFunc(Languages(), func(language string) bool { return folders[[2]string{kind, language}] == nil })
}

// Plugin says what to write.
type Plugin struct {
	// Name is the plugin's name, Kind one of [Kinds], Language one of [Languages].
	Name, Kind, Language string
	// Checkout is a checkout of swarm to build against, absolute or relative to
	// the plugin's folder; empty: a released version.
	Checkout string
}

type File struct {
	// Path is relative, with slashes.
	Path string
	Data []byte
	Mode fs.FileMode
}

func (p Plugin) Files() ([]File, error) {
	switch {
	case !swarm.ValidName(p.Name) || strings.HasSuffix(p.Name, "."):
		return nil, fmt.Errorf("'%s' is not a name for a plugin: letters, digits, '-', '_' and '.' inside, at most 64", p.Name)
	case !slices.Contains(Kinds(), p.Kind):
		return nil, fmt.Errorf("no template for the kind '%s'; there is one for each of: %s", p.Kind, strings.Join(Kinds(), ", "))
	case !slices.Contains(Languages(), p.Language):
		return nil, fmt.Errorf("no template for the language '%s'; there is one for each of: %s", p.Language, strings.Join(Languages(), ", "))
	case folders[[2]string{p.Kind, p.Language}] == nil:
		return nil, fmt.Errorf("no template for the kind '%s' in the language '%s'; there is one for each of: %s",
			p.Kind, p.Language, strings.Join(languagesOf(p.Kind), ", "))
	}
	files, err := p.templates()
	if err != nil || p.Language == "go" {
		return files, err
	}
	wire, err := p.wire()
	return append(files, wire...), err
}

// wire returns what a plugin in Go gets from its SDK: the public description of the protocol and, for
// TypeScript, the sources of the SDK.
func (p Plugin) wire() ([]File, error) {
	files, err := filesIn(proto.Files, ".")
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Path = "proto/" + files[i].Path
	}
	sdk, err := filesIn(typescript.Files, ".")
	for _, f := range sdk {
		if strings.HasPrefix(f.Path, "proto/") || p.Language == "typescript" && (f.Path != "src/shim.ts" || p.Kind == "backend") {
			files = append(files, f)
		}
	}
	return files, err
}

func (p Plugin) templates() (files []File, err error) {
	for _, folder := range folders[[2]string{p.Kind, p.Language}] {
		root := "templates/" + folder + "/"
		more, err := filesIn(templates, path.Clean(root))
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			f.Path = strings.TrimSuffix(strings.TrimPrefix(f.Path, root), ".tmpl")
			files = append(files, f)
		}
	}
	for i := range files {
		f := &files[i]
		f.Data = bytes.ReplaceAll(f.Data, []byte("@NAME@"), []byte(p.Name))
		switch f.Path {
		case "gitignore":
			f.Path = ".gitignore"
		case "go.mod":
			f.Data = append(f.Data, p.requirement()...)
		}
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			f.Mode = 0o755
		}
	}
	return files, nil
}

// filesIn returns all files below a directory.
func filesIn(from fs.FS, root string) (files []File, err error) {
	err = fs.WalkDir(from, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		files = append(files, File{Path: path, Data: data, Mode: 0o644})
		return err
	})
	return files, err
}

// requirement is the end of a go.mod. Without a checkout 'go mod tidy' finds the
// newest release.
func (p Plugin) requirement() string {
	if p.Checkout == "" {
		return ""
	}
	return "\nrequire github.com/swarmhost/swarm v0.0.0\n\nreplace github.com/swarmhost/swarm => " +
		modPath(filepath.ToSlash(p.Checkout)) + "\n"
}

func modPath(path string) string {
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "./") && !strings.HasPrefix(path, "../") {
		path = "./" + path
	}
	if strings.ContainsAny(path, " \t\"'`()[]{},") {
		return strconv.Quote(path)
	}
	return path
}

// Write writes the plugin into a directory, which it creates. An existing directory has to
// be empty.
func (p Plugin) Write(dir string) ([]File, error) {
	files, err := p.Files()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("the folder %s is not empty", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, f := range files {
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
		if err := write(file, f); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// write creates one file, and never follows an existing link.
func write(path string, f File) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return err
	}
	_, err = file.Write(f.Data)
	return errors.Join(err, file.Close())
}
