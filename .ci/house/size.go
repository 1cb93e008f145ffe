package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxPackageFiles = 40
	maxPackageLines = 4300
	maxHostLines    = 3000
	minFileLines    = 50
	// maxLines is what docs/decisions/0078-size.md says.
	maxLines = 154200
)

// A source is a Go file or a page of the documentation that people write.
type source struct {
	path  string
	text  []byte
	lines int
}

func (s source) isGo() bool { return strings.HasSuffix(s.path, ".go") }

// isTest reports whether s is read by tests alone.
func (s source) isTest() bool {
	return strings.HasSuffix(s.path, "_test.go") || strings.Contains(s.path, "/testdata/")
}

// isProduction reports whether s is Go code that users run or plugin authors import.
func (s source) isProduction() bool {
	return s.isGo() && !s.isTest() && !strings.HasPrefix(s.path, ".ci/") && !strings.HasPrefix(s.path, "docs/")
}

var generated = regexp.MustCompile(`(?m)^(// Code generated .* DO NOT EDIT\.|<!-- Generated .*-->)$`)

// readSources returns the sources of the repository without generated ones.
func readSources(ctx context.Context) ([]source, error) {
	files, err := repositoryFiles(ctx)
	if err != nil {
		return nil, err
	}
	var all []source
	for _, file := range files {
		if ext := path.Ext(file); ext != ".go" && ext != ".md" {
			continue
		}
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, but still in git's index
		}
		if err != nil {
			return nil, err
		}
		if !generated.Match(text) {
			all = append(all, source{path: file, text: text, lines: bytes.Count(text, []byte("\n"))})
		}
	}
	return all, nil
}

// A pkg is the production code of one directory.
type pkg struct {
	dir          string
	files, lines int
}

func (p pkg) String() string { return fmt.Sprintf("%s: %d files, %d lines", p.dir, p.files, p.lines) }

// measureSize measures packages, files and all of the production code. What only tests
// import is no part of the whole.
func measureSize(sources []source) ([]measure, error) {
	support, err := testSupport(sources)
	if err != nil {
		return nil, err
	}
	dirs := map[string]*pkg{}
	var packages []*pkg
	total := 0
	small := measure{name: fmt.Sprintf("files under %d lines", minFileLines), note: "but the parts of build splits, doc.go, main.go, errors.go, packages of one file"}
	for _, s := range sources {
		if !s.isProduction() {
			continue
		}
		dir := path.Dir(s.path)
		if dirs[dir] == nil {
			dirs[dir] = &pkg{dir: dir}
			packages = append(packages, dirs[dir])
		}
		dirs[dir].files++
		dirs[dir].lines += s.lines
		if !support[dir] {
			total += s.lines
		}
	}
	split := map[string]bool{}
	for _, s := range sources {
		if platform.MatchString(s.path) {
			split[platform.ReplaceAllString(s.path, ".go")] = true
		}
	}
	for _, s := range sources {
		if s.isProduction() && s.lines < minFileLines && !split[s.path] && !maySmall(s, dirs[path.Dir(s.path)]) {
			small.value++
			small.places = append(small.places, fmt.Sprintf("%s: %d lines", s.path, s.lines))
		}
	}
	host := pkg{dir: "host"}
	if dirs["host"] != nil {
		host = *dirs["host"]
	}
	return []measure{
		largest("files of the largest package", packages, maxPackageFiles, func(p *pkg) int { return p.files }),
		largest("lines of the largest package", packages, maxPackageLines, func(p *pkg) int { return p.lines }),
		{name: "lines of package host", value: host.lines, max: maxHostLines},
		{name: "production lines in all", value: total, max: maxLines, note: "but test support"},
		small,
	}, nil
}

// largest returns the measure of the package with the largest size.
func largest(name string, packages []*pkg, limit int, size func(*pkg) int) measure {
	slices.SortFunc(packages, func(a, b *pkg) int { return size(b) - size(a) })
	m := measure{name: name, max: limit}
	for i, p := range packages {
		if i == 0 {
			m.value, m.note = size(p), p.dir
		}
		if size(p) > limit {
			m.places = append(m.places, p.String())
		}
	}
	return m
}

var platform = regexp.MustCompile(`(?m)_(linux|darwin|unix|other)\.go$|^//go:build `)

// maySmall reports whether s has a reason to be small: it is one side of a split by build
// constraints, the whole of a package, or one of the files that each package may have.
func maySmall(s source, p *pkg) bool {
	name := path.Base(s.path)
	return name == "doc.go" || name == "main.go" || name == "errors.go" || p.files == 1 || platform.MatchString(name) || platform.Match(s.text)
}

// measurePairs counts the files that are named by a verb next to a file of the same
// directory that is named by another form of it, as kill.go beside killing.go.
func measurePairs(sources []source) measure {
	m := measure{name: "verb next to its gerund in file names"}
	files := map[string]bool{}
	for _, s := range sources {
		files[s.path] = s.isProduction()
	}
	for _, s := range sources {
		if !s.isProduction() {
			continue
		}
		stem := strings.TrimSuffix(s.path, ".go")
		for _, base := range verbsOf(stem) {
			if files[base+".go"] {
				m.value++
				m.places = append(m.places, fmt.Sprintf("%s: next to %s.go", s.path, path.Base(base)))
				break
			}
		}
	}
	return m
}

// verbsOf returns the verbs that stem may be a form of, as clean of cleaning.
func verbsOf(stem string) []string {
	var all []string
	for _, ending := range []string{"ing", "ed", "d"} {
		base, ok := strings.CutSuffix(stem, ending)
		if !ok || len(path.Base(base)) < 3 {
			continue
		}
		all = append(all, base, base+"e")
		if last := base[len(base)-1]; last == base[len(base)-2] {
			all = append(all, base[:len(base)-1])
		}
	}
	return all
}
