package main

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

const (
	maxCallbacks     = 10
	untestedLinesMax = 200
)

// callbacks are the function fields of Options structs that are real callbacks, each with
// its reason: what it calls is above the package, or changes while the package works.
var callbacks = map[string]string{
	"host.Answers":         "reads the config, which is above host, and may have changed since the last question",
	"host.Waiting":         "writes to the terminal of the command while a call waits",
	"host.Warn":            "writes to the terminal of the command, between its other lines",
	"host/backend.Waiting": "is host.Waiting",
	"host/store.Warn":      "is host.Warn",
	"host/hooks.Say":       "writes to the terminal of the command while hooks run",
	"host/launch.Notice":   "is host.Waiting",
	"host/mcp.Env":         "opens a host for each call with the config of that moment, which is above host",
	"host/ralph.Notify":    "sends a notice as the config says, which is above host",
	"host/web.Spent":       "prints the next address on the terminal of the command",
}

// measureCallbacks counts the function fields of the Options structs in and below host,
// and those of them that have no reason.
func measureCallbacks(sources []source) ([]measure, error) {
	all := measure{name: "function fields in Options of host and below", max: maxCallbacks}
	unexplained := measure{name: "function fields in Options without a reason"}
	structs := map[string]*ast.StructType{} // by path and line
	functions := map[string]bool{}          // named function types, by package and name
	for _, s := range sources {
		if !s.isGo() || s.isTest() {
			continue
		}
		files, file, err := parse(s)
		if err != nil {
			return nil, err
		}
		inHost := s.path == "host" || strings.HasPrefix(s.path, "host/")
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			switch t := spec.Type.(type) {
			case *ast.FuncType:
				functions[file.Name.Name+"."+spec.Name.Name] = true
			case *ast.StructType:
				if inHost && spec.Name.Name == "Options" {
					structs[fmt.Sprintf("%s:%d", s.path, files.Position(spec.Pos()).Line)] = t
				}
			}
			return true
		})
	}
	for at, options := range structs {
		dir := path.Dir(at)
		for _, field := range options.Fields.List {
			if !isFunction(field.Type, path.Base(dir), functions) {
				continue
			}
			for _, name := range field.Names {
				key := dir + "." + name.Name
				place := at + ": " + key
				if callbacks[key] == "" {
					unexplained.places = append(unexplained.places, place)
				}
				all.places = append(all.places, place)
			}
		}
	}
	slices.Sort(all.places)
	slices.Sort(unexplained.places)
	all.value, unexplained.value = len(all.places), len(unexplained.places)
	return []measure{all, unexplained}, nil
}

// isFunction reports whether t, in the package pkg, is the type of a function: a named one
// is if functions has it.
func isFunction(t ast.Expr, pkg string, functions map[string]bool) bool {
	switch t := t.(type) {
	case *ast.FuncType:
		return true
	case *ast.Ident:
		return functions[pkg+"."+t.Name]
	case *ast.SelectorExpr:
		other, ok := t.X.(*ast.Ident)
		return ok && functions[other.Name+"."+t.Sel.Name]
	}
	return false
}

// measureUntested counts the larger packages that have no test file of their own.
func measureUntested(sources []source) measure {
	m := measure{name: fmt.Sprintf("packages over %d lines without a test file", untestedLinesMax), note: "test support aside"}
	lines := map[string]int{}
	tested := map[string]bool{}
	for _, s := range sources {
		dir := path.Dir(s.path)
		if s.isProduction() {
			lines[dir] += s.lines
		}
		if strings.HasSuffix(s.path, "_test.go") {
			tested[dir] = true
		}
	}
	for dir, n := range lines {
		if n > untestedLinesMax && !tested[dir] && !isTestSupport(dir) {
			m.places = append(m.places, fmt.Sprintf("%s: %d lines", dir, n))
		}
	}
	slices.Sort(m.places)
	m.value = len(m.places)
	return m
}

// isTestSupport reports whether tests alone import the package in dir: it or a directory
// above it is named as the thing that it helps to test, with "test" at the end.
func isTestSupport(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if strings.HasSuffix(part, "test") {
			return true
		}
	}
	return false
}

// measureAliases counts the types of package host that are another package's.
func measureAliases(sources []source) (measure, error) {
	m := measure{name: "aliases of types in package host"}
	for _, s := range sources {
		if !s.isProduction() || path.Dir(s.path) != "host" {
			continue
		}
		files, file, err := parse(s)
		if err != nil {
			return m, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Assign.IsValid() {
				m.places = append(m.places, fmt.Sprintf("%s:%d: %s", s.path, files.Position(spec.Pos()).Line, spec.Name.Name))
			}
			return true
		})
	}
	m.value = len(m.places)
	return m, nil
}
