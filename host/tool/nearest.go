package tool

import (
	"slices"
	"strings"
)

// nearest returns the field that name was probably meant to be, or "". Capitals,
// hyphens and underscores don't count: what is shell_id here is shellId elsewhere.
func nearest(name string, fields []string) string {
	const longest = 64 // of a name worth comparing
	if len(name) > longest {
		return ""
	}
	name = fold(name)
	best, least := "", max(1, len(name)/3)+1
	for _, field := range fields {
		if d := distance(name, fold(field)); d < least {
			best, least = field, d
		}
	}
	if best == "" && name != "" {
		begins := func(field string) bool { return strings.HasPrefix(fold(field), name) }
		if i := slices.IndexFunc(fields, begins); i >= 0 {
			return fields[i] // team for teamName
		}
	}
	return best
}

func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// distance counts the bytes to insert, remove or replace to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
