package spawn

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source are the parsed files of the project that are no tests, by their paths in it.
func source(t *testing.T) map[string]*ast.File {
	t.Helper()
	const top = "../.."
	files := map[string]*ast.File{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "docs" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".pb.go"):
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			files[name] = f
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// text returns an expression such as "s.Plugins"; empty for one of another kind.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if head := text(e.X); head != "" {
			return head + "." + e.Sel.Name
		}
	case *ast.StarExpr:
		return text(e.X)
	}
	return ""
}

// places returns the functions, as FILE:FUNCTION, in which a node is found.
func places(files map[string]*ast.File, found func(ast.Node) bool) []string {
	var all []string
	for name, file := range files {
		for _, decl := range file.Decls {
			where := name
			if f, ok := decl.(*ast.FuncDecl); ok {
				where += ":" + f.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if n != nil && found(n) && !slices.Contains(all, where) {
					all = append(all, where)
				}
				return true
			})
		}
	}
	slices.Sort(all)
	return all
}

func calls(method string) func(ast.Node) bool {
	return func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && (text(call.Fun) == method || strings.HasSuffix(text(call.Fun), "."+method))
	}
}

func makes(typeName string) func(ast.Node) bool {
	return func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		return ok && text(lit.Type) == typeName
	}
}

// TestEveryStartHasTheDefaults fails for a new way to start a worker that may go around the
// defaults of the user's config. If it fails for a function of yours, apply [Defaults] there
// before you add the function here.
func TestEveryStartHasTheDefaults(t *testing.T) {
	t.Parallel()
	files := source(t)
	for _, tt := range []struct {
		what  string
		found func(ast.Node) bool
		want  []string
	}{
		// The verbs of swarm-shim are plugins in other languages, which the host has asked.
		{"asks a backend to start a worker", calls("Backend.Spawn"), []string{"cmd/swarm-plugins/internal/verbs/verbs.go:Spawn", "host/spawn/spawn.go:start"}},
		{"makes a plan", makes("plan"), []string{"host/spawn/plan.go:plan", "host/spawn/respawnplan.go:planAgain"}},
		{"applies the defaults to a request", calls("Defaults.apply"), []string{"host/spawn/plan.go:plan"}},
		{"applies the defaults to a record", calls("Defaults.tighten"), []string{"host/spawn/respawnplan.go:planAgain"}},
		{"makes a spec", makes("registry.Spec"), []string{"host/spawn/adopt.go:adoptedRecord", "host/spawn/plan.go:plan"}},
		{"makes a spawner", makes("spawn.Spawner"), []string{"host/parts.go:Spawn"}},
		{"opens a host", calls("host.Open"), []string{"cmd/internal/setup/setup.go:Open"}},
		// Their hosts have no defaults, and start nothing.
		{"opens a host without a config", func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && len(call.Args) == 2 && strings.HasSuffix(text(call.Fun), "Open") && calls("config.Default")(call.Args[1])
		}, nil},
	} {
		got := slices.DeleteFunc(places(files, tt.found), func(place string) bool {
			return strings.HasPrefix(place, "plugins/") || strings.HasPrefix(place, "shared/") || strings.HasPrefix(place, "cmd/internal/scaffold/") || strings.HasPrefix(place, "host/hosttest/") || strings.HasPrefix(place, "cmd/swarm/internal/jsontest/")
		})
		if tt.want == nil {
			for _, place := range got {
				file, _, _ := strings.Cut(place, ":")
				if starts := places(map[string]*ast.File{file: files[file]}, func(n ast.Node) bool {
					return calls("Spawn")(n) || calls("Respawn")(n) || calls("Resurrect")(n)
				}); starts != nil {
					t.Errorf("%s opens a host without a config and starts workers", place)
				}
			}
			continue
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("what %s is %q, want %q", tt.what, got, tt.want)
		}
	}
	for name, field := range map[string]string{"host/parts.go": "spawn.Spawner", "cmd/internal/setup/setup.go": "host.Options"} {
		has := places(map[string]*ast.File{name: files[name]}, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			return ok && text(lit.Type) == field && slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
				pair, ok := e.(*ast.KeyValueExpr)
				return ok && text(pair.Key) == "Defaults"
			})
		})
		if has == nil {
			t.Errorf("%s has no Defaults in %s", name, field)
		}
	}
}
