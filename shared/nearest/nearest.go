// Package nearest finds the name that was probably meant by an unknown one, for
// hints such as "did you mean 'tmux'?".
package nearest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Name returns the one of names that name was probably meant to be, the first of
// those that are equally near; empty if all of them are too far away.
func Name(name string, names []string) string {
	best, most := "", Most(name)
	for _, n := range names {
		if d, ok := Within(name, n, most); ok {
			best, most = n, d-1
		}
	}
	return best
}

// Field returns the field of a JSON object that name was probably meant to be, or "". Capitals,
// hyphens and underscores don't count: shell_id here is shellId elsewhere.
func Field(name string, fields []string) string {
	folded := make([]string, len(fields))
	for i, field := range fields {
		folded[i] = fold(field)
	}
	name = fold(name)
	near := Name(name, folded)
	if near == "" && name != "" {
		begins := func(field string) bool { return strings.HasPrefix(field, name) }
		if i := slices.IndexFunc(folded, begins); i >= 0 {
			return fields[i] // team for teamName
		}
	}
	if i := slices.Index(folded, near); i >= 0 {
		return fields[i]
	}
	return ""
}

func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// Most is the largest distance between a name and a suggestion for it. A name of one letter
// has none: every other letter would be as near.
func Most(name string) int { return min(max(1, len(name)/3), utf8.RuneCountInString(name)-1) }

// Within returns the distance between two names: how many letters have to be inserted,
// removed, replaced or swapped with their neighbours to turn one into the other. ok reports
// whether it is at most most; names whose lengths differ by more are not compared.
func Within(from, to string, most int) (distance int, ok bool) {
	apart := utf8.RuneCountInString(from) - utf8.RuneCountInString(to)
	if max(apart, -apart) > most {
		return 0, false
	}
	d := distanceOf([]rune(from), []rune(to))
	return d, d <= most
}

func distanceOf(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := 1
			if a[i-1] == b[j-1] {
				replaced = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
