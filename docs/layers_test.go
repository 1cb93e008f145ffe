package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/swarmhost/swarm/"

// layersPage is the page with the table of layers; UPDATE_DOCS=1 writes its last column.
const layersPage = "architecture.md"

// layerRow is a row of the table: a package, what it is for, what it imports.
var layerRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\| (.*) \\| (.*?) ?\\|?$")

// TestLayers compares the table of layers with the imports of each package. Packages below shared are
// named one by one where a package of shared imports them, and as "shared" elsewhere.
func TestLayers(t *testing.T) {
	t.Parallel()
	imports := importsOf(t)
	text, err := os.ReadFile(layersPage)
	if err != nil {
		t.Fatal(err)
	}
	before, table, found := strings.Cut(string(text), "\n## Layers\n")
	if !found {
		t.Fatal("there is no section Layers")
	}
	var rows []string
	got := layerRow.ReplaceAllStringFunc(table, func(row string) string {
		parts := layerRow.FindStringSubmatch(row)
		rows = append(rows, parts[1])
		all, known := imports[parts[1]]
		switch {
		case strings.HasPrefix(parts[1], "cmd/swarm"):
			return row // a rule for many packages
		case !known:
			t.Errorf("the row of %s is of no package", parts[1])
			return row
		}
		return "| `" + parts[1] + "` | " + parts[2] + " | " + column(all) + " |"
	})
	for name := range imports {
		if top, _, _ := strings.Cut(name, "/"); !slices.Contains(rows, name) && slices.Contains([]string{"config", "host", "shared"}, top) && !strings.Contains(name, "/internal") {
			t.Errorf("%s has no row", name)
		}
	}
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

func column(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return "`" + strings.Join(all, "`, `") + "`"
}

// importsOf returns the imports of each package within the module, by their paths in it.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "-tags", "grpcnotrace", "./...")
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
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		inShared := strings.HasPrefix(name, "shared/")
		all[name] = []string{}
		for _, i := range p.Imports {
			i, ours := strings.CutPrefix(i, module)
			if !ours || strings.HasPrefix(i, "shared/") && strings.Contains(i, "/internal/") {
				continue
			}
			if strings.HasPrefix(i, "shared/") && !inShared {
				i = "shared"
			}
			if !slices.Contains(all[name], i) {
				all[name] = append(all[name], i)
			}
		}
		slices.Sort(all[name])
	}
	return all
}
