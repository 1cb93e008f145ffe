package profile

import "slices"

// WithFlags returns a command that the profile was found for with the flags that the
// agent needs, right after its program, and which of them were added. The command
// itself is not changed. missing are the flags that could not be added, since the
// script of a shell runs the agent. A headless agent needs none.
func (p *Profile) WithFlags(command []string) (full, added, missing []string) {
	full = command
	if len(p.Flags()) == 0 || p.Headless(command) {
		return full, nil, nil
	}
	for _, words := range programs(command, 0) {
		if !p.runs(words) {
			continue
		}
		var lacks []string
		for _, flag := range p.Flags() {
			if !slices.Contains(words[1:], flag) {
				lacks = append(lacks, flag)
			}
		}
		at := len(command) - len(words)
		if at < 0 || &command[at] != &words[0] {
			return command, nil, lacks
		}
		return slices.Insert(slices.Clone(command), at+1, lacks...), lacks, nil
	}
	return command, nil, nil
}
