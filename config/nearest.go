package config

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the name that was probably meant by one that is not among
// names, or "".
func Nearest(name string, names []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, n := range names {
		if apart(name, n) >= least {
			continue
		}
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// nearest returns the candidate that key was probably meant to be, or "": one
// with as many parts, and in each only a few letters different, or else one
// with such a last part, written in the wrong table.
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
	least = len(key)
	for _, c := range candidates {
		if d, ok := difference(lastPart(key), lastPart(c)); ok && d < least {
			best, least = c, d
		}
	}
	return best
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
		most := max(1, len(as[i])/3)
		if apart(as[i], bs[i]) > most {
			return 0, false
		}
		d := distance(as[i], bs[i])
		if d > most {
			return 0, false
		}
		sum += d
	}
	return sum, true
}

// apart returns how many letters one of the names has more than the other. Their
// distance is not less, and costs more to know.
func apart(a, b string) int {
	n := utf8.RuneCountInString(a) - utf8.RuneCountInString(b)
	return max(n, -n)
}

// distance counts the letters to insert, remove, replace or swap with their
// neighbours to make to of from.
func distance(from, to string) int {
	a, b := []rune(from), []rune(to)
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
			d[i][j] = min(d[i-1][j], d[i][j-1]) + 1
			if a[i-1] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-1][j-1])
			} else {
				d[i][j] = min(d[i][j], d[i-1][j-1]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
