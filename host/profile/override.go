package profile

import (
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/nearest"
)

// Override is what a profile changes of the one that it extends.
type Override struct {
	// Base is the name of the extended profile.
	Base string `json:"base"`
	// Replaced, Removed and Added are the names of rules.
	Replaced []string `json:"replaced"`
	Removed  []string `json:"removed"`
	Added    []string `json:"added"`
	// Keys are the keys of other tables that the profile sets, such as "input.prompt".
	Keys []string `json:"keys"`
}

// base returns the profile that a file extends, or nil.
func (r *reader) base(f *file, named func(name string) *Profile) *Profile {
	if f.Extends != "" {
		if named == nil {
			r.wrong("extends", "a profile in a bundle can't extend another one")
			return nil
		}
		if b := named(f.Extends); b != nil {
			return b
		}
		r.wrong("extends", "no profile is called %q; 'swarm agent profiles' lists them", f.Extends)
		return nil
	}
	if len(f.Remove) > 0 {
		r.wrong("remove", "it goes with extends, which names the profile whose rules are removed")
	}
	for i, rule := range f.Rules {
		if rule.Before+rule.After != "" {
			r.wrong(ruleKey(i, "before"), "before and after go with extends: they name a rule of the other profile")
		}
	}
	return nil
}

// inherit fills in the keys that the file does not set from another profile. Hints, and what
// stands for a paste, are added to those of the other one.
func (p *Profile) inherit(b *Profile, meta *toml.MetaData) {
	f, from := &p.file, &b.file
	o := &Override{Base: b.Name(), Replaced: []string{}, Removed: []string{}, Added: []string{}, Keys: []string{}}
	p.Override, p.bundle, p.Installed = o, b.bundle, b.Installed
	hints, pasted := f.Input.Hints, f.Input.Pasted
	own := meta.IsDefined("dialog", "top") || meta.IsDefined("dialog", "inside")
	for table, pair := range map[string][2]any{
		"input": {&f.Input, &from.Input}, "dialog": {&f.Dialog, &from.Dialog}, "run": {&f.Run, &from.Run}, "match": {&f.Match, &from.Match},
	} {
		to, base := reflect.ValueOf(pair[0]).Elem(), reflect.ValueOf(pair[1]).Elem()
		for i := range to.NumField() {
			key := to.Type().Field(i).Tag.Get("toml")
			if meta.IsDefined(table, key) {
				o.Keys = append(o.Keys, table+"."+key)
			} else if table != "match" || f.Name == from.Name || !meta.IsDefined("match") {
				to.Field(i).Set(base.Field(i))
			}
		}
	}
	slices.Sort(o.Keys)
	f.Input.Hints = slices.Concat(hints, from.Input.Hints)
	f.Input.Pasted = slices.Concat(pasted, from.Input.Pasted)
	// A dialog is known by the line above it or by its own lines.
	if own && !meta.IsDefined("dialog", "top") {
		f.Dialog.Top = ""
	}
	if own && !meta.IsDefined("dialog", "inside") {
		f.Dialog.Inside, f.Dialog.Head = "", ""
	}
	if f.Title == "" && f.Name == from.Name {
		f.Title = from.Title
	}
}

// unique refuses two rules of one name.
func (r *reader) unique(rules []rule) {
	seen := map[string]bool{}
	for i := range rules {
		if name := rules[i].name; seen[name] {
			r.wrong(ruleKey(i, "name"), "there are two rules %q", name)
		} else {
			seen[name] = true
		}
	}
}

// override makes the rules of a profile out of its own and those of the profile that it extends.
// A rule replaces the one of its name. Others have the place that they name, or are the first.
// After an update of the other profile, a rule that is named may not exist any more: what else the
// file says counts then, too.
func (r *reader) override(p, b *Profile) {
	o, own := p.Override, p.rules
	rules := slices.Clone(b.rules)
	at := func(name string) int { return slices.IndexFunc(rules, func(r rule) bool { return r.name == name }) }
	known := func(key, name string) bool {
		if at(name) < 0 {
			r.note(key, "profile %q has no rule %q; %s", b.Name(), name, r.suggest(name, b))
			return false
		}
		return true
	}
	for _, name := range p.file.Remove {
		if known("remove", name) {
			i := at(name)
			rules = slices.Delete(rules, i, i+1)
			o.Removed = append(o.Removed, name)
		}
	}
	var first []rule
	for i, rule := range own {
		f := p.file.Rules[i]
		place := at(rule.name)
		if place >= 0 {
			o.Replaced = append(o.Replaced, rule.name)
		} else {
			o.Added = append(o.Added, rule.name)
		}
		switch {
		case f.Before != "" && f.After != "":
			r.wrong(ruleKey(i, "before"), "a rule has one of before and after, not both")
		case f.Before == rule.name || f.After == rule.name:
			r.wrong(ruleKey(i, "name"), "a rule is not before or after itself")
		case f.Before != "" && known(ruleKey(i, "before"), f.Before), f.After != "" && known(ruleKey(i, "after"), f.After):
			if place >= 0 {
				rules = slices.Delete(rules, place, place+1)
			}
			if f.Before != "" {
				place = at(f.Before)
			} else {
				place = at(f.After) + 1
			}
			rules = slices.Insert(rules, place, rule)
		case place >= 0:
			rules[place] = rule
		default:
			first = append(first, rule)
		}
	}
	p.rules = append(first, rules...)
}

// suggest returns what may have been meant by the name of a rule.
func (r *reader) suggest(name string, b *Profile) string {
	var names []string
	for _, rule := range b.rules {
		names = append(names, rule.name)
	}
	if near := nearest.Name(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "its rules are " + strings.Join(names, ", ")
}
