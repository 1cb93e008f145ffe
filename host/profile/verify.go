package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/profile/bundle"
)

// Check returns the set of the built-in profiles and those of a bundle, without a user's own, and
// what the recorded screens of both show with it. The error names the profiles and recordings
// that are damaged.
func Check(b *bundle.Bundle) (*Set, []Verdict, error) {
	s := &Set{all: slices.Clone(builtin())}
	if err := damaged(b); err != nil {
		return nil, nil, err
	}
	if err := s.overlay(b, true); err != nil {
		return nil, nil, err
	}
	s.bundle = b
	verdicts, err := s.ReplayAll()
	return s, verdicts, err
}

// damaged returns what is wrong with the profiles of a bundle.
func damaged(b *bundle.Bundle) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(b.Profiles)) {
		p, err := parse(name+".toml", name, b.Profiles[name], nil)
		switch {
		case err != nil:
			problems = append(problems, err)
		case p.Name() != name:
			problems = append(problems, problem{file: name + ".toml", key: "name", text: fmt.Sprintf("expected %q, as the file is called, got %q", name, p.Name())})
		case name == None:
			problems = append(problems, problem{file: name + ".toml", text: `"none" means no profile; choose another name`})
		}
	}
	return errors.Join(problems...)
}

// Damaged returns what is wrong with the profiles of the installed bundle, which were right when it
// was installed; those before them count in their place.
func (s *Set) Damaged() error {
	if s.bundle == nil {
		return nil
	}
	return damaged(s.bundle)
}

// ReplayAll replays all recordings of the set. The error names those that are damaged.
func (s *Set) ReplayAll() ([]Verdict, error) {
	recordings, err := s.Recordings()
	if err != nil {
		return nil, err
	}
	verdicts := make([]Verdict, len(recordings))
	for i, r := range recordings {
		verdicts[i] = s.Replay(r)
	}
	return verdicts, nil
}

// Failures returns the verdicts that have problems.
func Failures(verdicts []Verdict) []Verdict {
	return slices.DeleteFunc(slices.Clone(verdicts), func(v Verdict) bool { return len(v.Problems) == 0 })
}

// Untested returns the rules that none of the verdicts shows, by the names of their profiles, which
// are those with a recorded screen.
func (s *Set) Untested(verdicts []Verdict) map[string][]string {
	shown := map[string]map[string]bool{}
	for _, v := range verdicts {
		if shown[v.Client] == nil {
			shown[v.Client] = map[string]bool{}
		}
		for _, t := range v.Trials {
			if t.Matched {
				shown[v.Client][t.Rule] = true
			}
		}
	}
	untested := map[string][]string{}
	for client, rules := range shown {
		p := s.Named(client)
		if p == nil {
			continue
		}
		for _, r := range p.rules {
			if !rules[r.name] {
				untested[client] = append(untested[client], r.name)
			}
		}
	}
	return untested
}

// Verification says on which recorded screens a profile was tested.
type Verification struct {
	// Versions are those of the programs that were recorded, sorted.
	Versions []string
	// Screens is how many recorded screens there are.
	Screens int
	// Failed names the screens that a user's own profile reads in another way than expected.
	// The profiles of a bundle were tested before.
	Failed []string
}

// proves reports whether the recording shows that the rules are right for its version. How a client
// asks for a sign-in proves nothing of the rest.
func (r *Recording) proves() bool {
	return r.Version != "" && !strings.Contains(r.Name, "sign-in") && !strings.Contains(r.Name, "trust")
}

// Verify returns on which screens the profiles of the set were tested, by their names. The error
// names recordings that are damaged.
func (s *Set) Verify() (map[string]Verification, error) {
	recordings, err := s.Recordings()
	all := map[string]Verification{}
	for _, r := range recordings {
		p := s.Named(r.Client)
		if p == nil {
			continue
		}
		v := all[r.Client]
		v.Screens++
		if r.proves() && !slices.Contains(v.Versions, r.Version) {
			v.Versions = append(v.Versions, r.Version)
			slices.SortFunc(v.Versions, bundle.Compare)
		}
		if p.Source != "" && len(r.problems(p, p.Look(r.Screen))) > 0 {
			v.Failed = append(v.Failed, r.Name)
		}
		all[r.Client] = v
	}
	return all, err
}
