package swarm

import "strings"

// MaxName is the largest length of a worker's name, in bytes.
const MaxName = 64

// ValidName reports whether name can be a worker's name: a letter or digit of
// ASCII, then up to 63 letters, digits, dots, underscores and hyphens.
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || strings.IndexByte("._-", c) < 0) {
			return false
		}
	}
	return true
}
