package copy

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// The options of a copy.
const (
	optionExclude = "exclude"
	optionReflink = "reflink"
	optionLarge   = "large"
)

// The values of the option reflink.
const (
	reflinkAuto   = "auto"
	reflinkAlways = "always"
	reflinkNever  = "never"
)

type options struct {
	// Exclude are patterns of what is not copied: of names, or with a slash of whole paths.
	Exclude []string
	Reflink string
	// Large allows a plain copy of more than largeCopy bytes.
	Large bool
}

func parseOptions(given map[string]string) (options, error) {
	o := options{Reflink: reflinkAuto}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		switch {
		case key == optionExclude:
			for pattern := range strings.SplitSeq(value, ",") {
				pattern = strings.Trim(strings.TrimSpace(pattern), "/")
				if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
					return o, invalid("option exclude: '%s' is not a list of patterns, such as node_modules,*.o", value)
				}
				o.Exclude = append(o.Exclude, pattern)
			}
		case key == optionReflink && slices.Contains([]string{reflinkAuto, reflinkAlways, reflinkNever}, value):
			o.Reflink = value
		case key == optionReflink:
			return o, invalid("option reflink: expected auto, always or never, got '%s'", value)
		case key == optionLarge && (value == "true" || value == "false"):
			o.Large = value == "true"
		case key == optionLarge:
			return o, invalid("option large: expected true or false, got '%s'", value)
		default:
			return o, invalid("a copy has no option '%s': it has exclude, large and reflink", key)
		}
	}
	return o, nil
}

// excludes reports whether a path, relative to the base, is left out.
func (o options) excludes(at string) bool {
	return slices.ContainsFunc(o.Exclude, func(pattern string) bool {
		name := at
		if !strings.Contains(pattern, "/") {
			name = path.Base(at)
		}
		matches, _ := path.Match(pattern, name) // its syntax was checked
		return matches
	})
}
