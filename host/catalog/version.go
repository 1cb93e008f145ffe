package catalog

import (
	"cmp"
	"strings"
)

// CleanVersion returns a version as it is written here: without the v that some
// put before the number.
func CleanVersion(v string) string {
	if rest, ok := strings.CutPrefix(v, "v"); ok && rest != "" && isDigit(rest[0]) {
		return rest
	}
	return v
}

// ValidVersion reports whether v can be a version, and with it the name of a
// folder: letters, digits, '.', '+', '_' and '-', beginning with a letter or a
// digit, at most 64.
func ValidVersion(v string) bool {
	if v == "" || len(v) > 64 || strings.ContainsRune(".+_-", rune(v[0])) {
		return false
	}
	for i := range len(v) {
		c := v[i]
		if !isDigit(c) && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune(".+_-", rune(c)) {
			return false
		}
	}
	return true
}

// CompareVersions orders versions as semver.org does (item 11), and all other
// versions in the same spirit. Different texts are never equal: a build
// (after '+') decides last.
func CompareVersions(a, b string) int {
	ca, buildA, _ := strings.Cut(a, "+")
	cb, buildB, _ := strings.Cut(b, "+")
	coreA, preA, isPreA := strings.Cut(ca, "-")
	coreB, preB, isPreB := strings.Cut(cb, "-")
	if c := compareParts(coreA, coreB); c != 0 {
		return c
	}
	if isPreA != isPreB {
		if isPreA {
			return -1
		}
		return 1
	}
	return cmp.Or(compareParts(preA, preB), compareParts(buildA, buildB), strings.Compare(a, b))
}

// IsPrerelease reports whether v is a pre-release, as semver.org has it (item 9): a hyphen after
// the number and before the build. A date such as 2024-01-31 is not a pre-release.
func IsPrerelease(v string) bool {
	v, _, _ = strings.Cut(v, "+")
	core, pre, has := strings.Cut(v, "-")
	if !has || pre == "" || strings.Trim(core, "0123456789.") != "" {
		return false
	}
	return strings.Contains(core, ".") || strings.Trim(pre, "0123456789-") != ""
}

// defaultVersion returns the version that is used when none is named, of versions that begin with
// the newest: the newest release, or "" if there is no release.
func defaultVersion(versions []string) string {
	for _, v := range versions {
		if !IsPrerelease(v) {
			return v
		}
	}
	return ""
}

// compareParts compares the parts between dots: numbers by value and before words, words as
// text, a list before each longer one that begins with it.
func compareParts(a, b string) int {
	for a != "" || b != "" {
		var pa, pb string
		pa, a, _ = strings.Cut(a, ".")
		pb, b, _ = strings.Cut(b, ".")
		if c := comparePart(pa, pb); c != 0 {
			return c
		}
	}
	return 0
}

func comparePart(a, b string) int {
	numA, numB := isNumber(a), isNumber(b)
	switch {
	case a == "" || b == "":
		return cmp.Compare(len(a), len(b))
	case numA && numB:
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case numA:
		return -1
	case numB:
		return 1
	default:
		return strings.Compare(a, b)
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
