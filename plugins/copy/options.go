package copy

import (
	"path"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin"
)

// The values of the option reflink.
const (
	reflinkAuto   = "auto"
	reflinkAlways = "always"
	reflinkNever  = "never"
)

// Options are the options of a copy.
type Options struct {
	Exclude string `json:"exclude" help:"What is not copied: patterns of names, or with a slash of paths below the directory, separated by commas, such as node_modules,build/*.o."`
	Reflink string `json:"reflink" enum:"auto,always,never" default:"auto" help:"Whether the copy shares blocks with the directory: where the file system can, always (else it is refused), or never."`
	Large   bool   `json:"large" help:"Whether files are copied one by one also if they are more than 4 GiB."`
}

type options struct {
	// Exclude are patterns of what is not copied: of names, or with a slash of whole paths.
	Exclude []string
	Reflink string
	// Large allows a plain copy of more than largeCopy bytes.
	Large bool
}

func parseOptions(given map[string]string) (options, error) {
	all := Options{Reflink: reflinkAuto}
	if err := plugin.DecodeOptions(given, &all); err != nil {
		return options{}, err
	}
	o := options{Reflink: all.Reflink, Large: all.Large}
	if all.Exclude == "" {
		return o, nil
	}
	for pattern := range strings.SplitSeq(all.Exclude, ",") {
		pattern = strings.Trim(strings.TrimSpace(pattern), "/")
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return o, invalid("option exclude: '%s' is not a list of patterns, such as node_modules,*.o", all.Exclude)
		}
		o.Exclude = append(o.Exclude, pattern)
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
