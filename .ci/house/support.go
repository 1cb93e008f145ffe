package main

import (
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// modulePath is what the import paths of the repository's packages begin with.
const modulePath = "github.com/swarmhost/swarm/"

// testSupport returns the directories of the packages that only tests import, directly or
// through other such packages. A package that nothing imports does not count as one: it is a program,
// or authors of plugins import it.
func testSupport(sources []source) (map[string]bool, error) {
	importers := map[string]map[string]bool{} // by directory, those that are production code
	imported := map[string]bool{}
	for _, s := range sources {
		if !s.isGo() {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), s.path, s.text, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		from := path.Dir(s.path)
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			dir, ours := strings.CutPrefix(name, modulePath)
			if !ours || dir == from {
				continue
			}
			imported[dir] = true
			if s.isProduction() {
				if importers[dir] == nil {
					importers[dir] = map[string]bool{}
				}
				importers[dir][from] = true
			}
		}
	}
	support := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for dir := range imported {
			if !support[dir] && subset(importers[dir], support) {
				support[dir], grown = true, true
			}
		}
	}
	return support, nil
}

// subset reports whether b has all of a.
func subset(a, b map[string]bool) bool {
	for key := range a {
		if !b[key] {
			return false
		}
	}
	return true
}
