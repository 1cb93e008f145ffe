package settings

import "strings"

// nearest returns the candidate that key was most likely meant to be, or "".
func nearest(key string, candidates []string) string {
	best, bestDistance := "", len(key)/3+2
	for _, c := range candidates {
		if d := distance(strings.ToLower(key), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of single-byte insertions, deletions and replacements
// that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
