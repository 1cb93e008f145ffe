package docs_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/swarmhost/swarm/"

// layersPage is the page with the table of layers; UPDATE_DOCS=1 writes its last column.
const layersPage = "architecture.md"

// groups is the row of the packages below cmd/swarm/internal that have no row of their own. The text
// below the table names each of them.
const groups = "cmd/swarm/internal/<group>"

// layerRow is a row of the table: a package, what it is for, what it imports.
var layerRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/<>-]+)` \\| (.*) \\| (.*?) ?\\|?$")

// layers are the rows of the table and the imports of the packages.
type layers struct {
	// rows are the places of the rows in the table, by what they are of.
	rows    map[string]int
	imports map[string][]string
}

// TestLayers compares the table of layers with the imports of each package. A package imports only
// packages whose rows stand above its own.
func TestLayers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(layersPage)
	if err != nil {
		t.Fatal(err)
	}
	before, table, found := strings.Cut(string(text), "\n## Layers\n")
	if !found {
		t.Fatal("there is no section Layers")
	}
	l := layers{rows: make(map[string]int), imports: importsOf(t)}
	for i, row := range layerRow.FindAllStringSubmatch(table, -1) {
		if _, twice := l.rows[row[1]]; twice {
			t.Errorf("%s has two rows", row[1])
		}
		l.rows[row[1]] = i
	}
	l.checkRows(t, table)
	columns := l.columns()
	got := layerRow.ReplaceAllStringFunc(table, func(row string) string {
		parts := layerRow.FindStringSubmatch(row)
		all, known := columns[parts[1]]
		if !known {
			t.Errorf("the row of %s is of no package", parts[1])
			return row
		}
		return "| `" + parts[1] + "` | " + parts[2] + " | " + column(all) + " |"
	})
	if got == table {
		return
	}
	if os.Getenv("UPDATE_DOCS") == "" {
		t.Errorf("the table of layers is not what the packages import; write it with UPDATE_DOCS=1 go test ./docs -run TestLayers")
		return
	}
	if err := os.WriteFile(layersPage, []byte(before+"\n## Layers\n"+got), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rowOf returns what the row of a package is of.
func (l *layers) rowOf(name string) string {
	if _, own := l.rows[name]; !own && strings.HasPrefix(name, path.Dir(groups)+"/") {
		return groups
	}
	return name
}

// checkRows checks that each package has a row, and that the rows stand in order.
func (l *layers) checkRows(t *testing.T, table string) {
	t.Helper()
	below := table
	for _, row := range layerRow.FindAllStringIndex(table, -1) {
		below = table[row[1]:]
	}
	for _, name := range slices.Sorted(maps.Keys(l.imports)) {
		of := l.rowOf(name)
		row, known := l.rows[of]
		if !known || of == groups && !strings.Contains(below, "`"+path.Base(name)+"`") {
			t.Errorf("%s has no row", name)
		}
		for _, i := range l.imports[name] {
			if other := l.rowOf(i); known && other != of && l.rows[other] > row {
				t.Errorf("%s imports %s, whose row stands below its own", name, i)
			}
		}
	}
}

// columns returns the imports that each row shows. Packages below shared are named one by one where a
// package of shared imports them, and as "shared" elsewhere; the groups of verbs are named one by one
// where one of them imports another one.
func (l *layers) columns() map[string][]string {
	all := make(map[string][]string)
	for name, imports := range l.imports {
		of := l.rowOf(name)
		for _, i := range imports {
			if isShared(i) && !isShared(name) {
				i = "shared"
			} else if l.rowOf(i) == groups && of != groups {
				i = groups
			}
			all[of] = append(all[of], i)
		}
		slices.Sort(all[of])
		all[of] = slices.Compact(all[of])
	}
	return all
}

func column(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return "`" + strings.Join(all, "`, `") + "`"
}

func isShared(name string) bool { return strings.HasPrefix(name, "shared/") }

// importsOf returns the imports of each package within the module, by their paths in it.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,GoFiles", "-tags", "grpcnotrace",
		"./cmd/...", "./config/...", "./host/...", "./plugins/...", "./sdk/...", "./shared/...")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			ImportPath string
			Imports    []string
			GoFiles    []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) == 0 {
			continue // only tests
		}
		name := inTable(p.ImportPath)
		if all[name] == nil {
			all[name] = []string{}
		}
		for _, i := range p.Imports {
			if other := inTable(i); other != i && other != name {
				all[name] = append(all[name], other)
			}
		}
	}
	return all
}

// inTable returns the path of a package within the module, or its import path if it is of another one.
// An internal package of shared is a part of the package that it is for.
func inTable(importPath string) string {
	name, _ := strings.CutPrefix(importPath, module)
	if isShared(name) {
		name, _, _ = strings.Cut(name, "/internal/")
	}
	return name
}
