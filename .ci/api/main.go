// Command api holds the exported API of the packages that are promised to authors of plugins
// against docs/api, which has it as Go declarations. A difference fails, with what it means for
// those who import the package; with -update the new declarations are written.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

// module is the module whose packages are promised, and promised are their directories in it.
const module = "github.com/swarmhost/swarm"

var promised = []string{
	"shared/swarm",
	"shared/plugin",
	"shared/plugin/plugintest/backendtest",
	"shared/plugin/plugintest/notifiertest",
	"shared/plugin/plugintest/toolstest",
	"shared/plugin/plugintest/workspacetest",
	"shared/shim",
}

func main() {
	root := flag.String("root", ".", "the `DIRECTORY` of the repository")
	update := flag.Bool("update", false, "write the declarations")
	flag.Parse()
	differ, err := run(*root, *update)
	if err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(2)
	}
	if differ {
		fmt.Fprintln(os.Stderr, "\nThe exported API differs from docs/api. 'make api UPDATE=yes' writes it down. "+
			"From the first release on, docs/stability.md says what an incompatible change needs.")
		os.Exit(1)
	}
}

// run reports whether a package differs from its committed declarations.
func run(root string, update bool) (differ bool, err error) {
	var paths []string
	for _, dir := range promised {
		paths = append(paths, module+"/"+dir)
	}
	loaded, err := packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypesInfo,
	}, paths...)
	if err != nil {
		return false, err
	}
	if packages.PrintErrors(loaded) > 0 {
		return false, fmt.Errorf("the packages do not compile")
	}
	for _, p := range loaded {
		if err := checkNames(p.Types); err != nil {
			return false, err
		}
		file := filepath.Join(root, "docs", "api", strings.ReplaceAll(strings.TrimPrefix(p.PkgPath, module+"/shared/"), "/", "_")+".txt")
		now := declarations(p.Types)
		if update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return false, err
			}
			if err := os.WriteFile(file, now, 0o644); err != nil {
				return false, err
			}
		}
		before, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		if bytes.Equal(before, now) && !update {
			continue
		}
		old, err := check(p, file, before)
		if err != nil {
			return false, fmt.Errorf("%s: %w", file, err)
		}
		report := apidiff.Changes(old, p.Types)
		for _, change := range report.Changes {
			word := "incompatible"
			if change.Compatible {
				word = "compatible"
			}
			fmt.Printf("%s: %s: %s\n", strings.TrimPrefix(p.PkgPath, module+"/"), word, change.Message)
		}
		if update && len(report.Changes) > 0 {
			return false, fmt.Errorf("%s: what was written is not what the package exports", file)
		}
		if !update {
			differ = true
			if len(report.Changes) == 0 {
				fmt.Printf("%s: only names of parameters or the order differ\n", strings.TrimPrefix(p.PkgPath, module+"/"))
			}
		}
	}
	return differ, nil
}

// checkNames returns an error if something that a package exports names a type of a package that is not
// promised, which could not change either then. The kits for tests are exempt: they name parts of each other.
func checkNames(p *types.Package) error {
	if strings.HasPrefix(p.Path(), module+"/shared/plugin/plugintest/") {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(write(p).imports)) {
		dir, ours := strings.CutPrefix(path, module+"/")
		if ours && !slices.Contains(promised, dir) {
			return fmt.Errorf("%s exports something that names a type of %s, which is not promised", p.Path(), path)
		}
	}
	return nil
}

// check compiles declarations against the packages that the real one imports.
func check(p *packages.Package, file string, source []byte) (*types.Package, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	config := types.Config{IgnoreFuncBodies: true, Importer: dependencies(p)}
	return config.Check(p.PkgPath, fset, []*ast.File{parsed}, nil)
}

// dependencies returns an importer of what a package imports, directly or not.
func dependencies(p *packages.Package) types.Importer {
	all := imports{}
	packages.Visit([]*packages.Package{p}, nil, func(p *packages.Package) { all[p.PkgPath] = p.Types })
	return all
}

type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not among the dependencies", path)
}
