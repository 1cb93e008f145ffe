package config

import "strings"

// Nearest returns the name that was probably meant by one that is not among
// names, or "".
func Nearest(name string, names []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// nearest returns the candidate that key was probably meant to be, or "": one
// with as many parts, and in each only a few letters different, or else one
// with the same last part, written in the wrong table.
func nearest(key string, candidates []string) string {
	best, least := "", len(key)
	for _, c := range candidates {
		if d, ok := difference(key, c); ok && d < least {
			best, least = c, d
		}
	}
	if best != "" {
		return best
	}
	for _, c := range candidates {
		if lastPart(c) == lastPart(key) {
			return c
		}
	}
	return ""
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// difference sums up the distances of the parts of two keys; ok says that they
// are alike.
func difference(a, b string) (sum int, ok bool) {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	if len(as) != len(bs) {
		return 0, false
	}
	for i := range as {
		d := distance(as[i], bs[i])
		if d > max(1, len(as[i])/3) {
			return 0, false
		}
		sum += d
	}
	return sum, true
}

// distance counts the letters to insert, remove or replace to make to of from.
func distance(from, to string) int {
	a, b := []rune(from), []rune(to)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
