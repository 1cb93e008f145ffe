package tool

import (
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/nearest"
)

// nearestField returns the field that name was probably meant to be, or "". Capitals,
// hyphens and underscores don't count: what is shell_id here is shellId elsewhere.
func nearestField(name string, fields []string) string {
	folded := make([]string, len(fields))
	for i, field := range fields {
		folded[i] = fold(field)
	}
	name = fold(name)
	near := nearest.Name(name, folded)
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
