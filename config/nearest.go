package config

import (
	"strings"

	"github.com/swarmhost/swarm/shared/nearest"
)

// nearestKey returns the candidate that key was probably meant to be, or "": one
// with as many parts, and in each only a few letters different, or else one
// with such a last part, written in the wrong table.
func nearestKey(key string, candidates []string) string {
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

// difference returns the sum of the distances between the parts of two keys; ok says that
// the keys are similar.
func difference(a, b string) (sum int, ok bool) {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	if len(as) != len(bs) {
		return 0, false
	}
	for i := range as {
		d, ok := nearest.Within(as[i], bs[i], nearest.Most(as[i]))
		if !ok {
			return 0, false
		}
		sum += d
	}
	return sum, true
}
