// Package docs_test checks that the documentation names what exists.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the repository.
const root = ".."

// TestWhereToLook: each file and each name of the table in architecture.md exists.
func TestWhereToLook(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(read(t, "architecture.md"), "\n## Where to look\n")
	section, _, _ = strings.Cut(section, "\n## ")
	code := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		rows++
		files, names := code.FindAllStringSubmatch(cells[2], -1), code.FindAllStringSubmatch(cells[3], -1)
		if len(files) != len(names) {
			t.Errorf("%s: %d files and %d names", strings.TrimSpace(cells[1]), len(files), len(names))
			continue
		}
		for i, file := range files {
			text, err := os.ReadFile(filepath.Join(root, file[1]))
			if err != nil {
				t.Errorf("%s: %s does not exist: name the file that does this now", strings.TrimSpace(cells[1]), file[1])
			} else if !regexp.MustCompile(`\b` + regexp.QuoteMeta(names[i][1]) + `\b`).Match(text) {
				t.Errorf("%s: %s does not contain '%s'", strings.TrimSpace(cells[1]), file[1], names[i][1])
			}
		}
	}
	if rows < 25 {
		t.Errorf("found only %d rows", rows)
	}
}

// TestLinks: what a page links to exists, headings of other pages too.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	links := 0
	for _, page := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			target, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			to := page
			if target != "" {
				to = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s does not exist", page, match[1])
				continue
			}
			if heading != "" && !slices.Contains(headings(read(t, to)), heading) {
				t.Errorf("%s: %s has no such heading", page, match[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("found only %d links", links)
	}
}

// pages returns README.md and all pages of the documentation.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{root + "/README.md"}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

func withoutCode(page string) string { return fenced.ReplaceAllString(page, "") }

// headings returns the names that links use for the headings of a page.
func headings(page string) []string {
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	other := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	var all []string
	for _, match := range heading.FindAllStringSubmatch(withoutCode(page), -1) {
		name := other.ReplaceAllString(strings.ToLower(match[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}
