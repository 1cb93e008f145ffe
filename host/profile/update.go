package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/profile/bundle"
)

// ErrOlder means that a bundle is older than the profiles that are there, or has their version and
// other contents.
var ErrOlder = errors.New("not newer than the profiles that are there")

// OlderError is an [ErrOlder] that names both versions.
type OlderError struct {
	// Version is that of the bundle, and There that of the profiles that count now.
	Version, There string
}

func (e *OlderError) Error() string {
	if e.Version == e.There {
		return fmt.Sprintf("this bundle has the version of the profiles that are there, %s, and other contents", e.There)
	}
	return fmt.Sprintf("this bundle, %s, is older than the profiles that are there, %s", e.Version, e.There)
}

func (e *OlderError) Is(target error) bool { return target == ErrOlder }

// FailedError says that a bundle's rules read its own recorded screens in another way than
// expected.
type FailedError struct {
	// Verdicts are those with problems.
	Verdicts []Verdict
}

func (e *FailedError) Error() string {
	var names []string
	for _, v := range e.Verdicts {
		names = append(names, fmt.Sprintf("%s/%s: %s", v.Client, v.Name, strings.Join(v.Problems, "; ")))
	}
	return fmt.Sprintf("%d recorded screens are not read as expected: %s", len(names), strings.Join(names, "; "))
}

// Update is the result of [Dirs.Install].
type Update struct {
	// Before and Now are the versions that count. They are equal if nothing was installed.
	Before, Now string
	// Tested is how many recorded screens were read.
	Tested int
	// Own says what of the user's own profiles does not fit the new ones any more; nil: all fits.
	Own error
}

// Install makes a bundle the installed one if all recorded screens pass. It refuses a bundle with
// [ErrOlder] unless older says that this is meant, and one that does not pass with a
// [FailedError]; nothing is changed then.
func (d Dirs) Install(b *bundle.Bundle, o bundle.Origin, older bool) (Update, error) {
	there := BuiltIn()
	if now, _ := (Dirs{Bundle: d.Bundle}).Load(); now.bundle != nil {
		if installed, _, err := bundle.ReadInstalled(d.Bundle, true); err == nil { // a damaged one is replaced
			there = installed
		}
	}
	u := Update{Before: there.Version, Now: there.Version}
	_, verdicts, err := Check(b)
	if err != nil {
		return u, err
	}
	u.Tested = len(verdicts)
	if failed := Failures(verdicts); len(failed) > 0 {
		return u, &FailedError{Verdicts: failed}
	}
	if b.Equal(there) {
		return u, nil
	}
	if bundle.Compare(b.Version, there.Version) <= 0 && !older {
		return u, &OlderError{Version: b.Version, There: there.Version}
	}
	if bundle.Compare(b.Version, BuiltInVersion()) <= 0 {
		o.Over = BuiltInVersion()
	}
	before, _ := d.Load()
	if err := b.Write(d.Bundle, o); err != nil {
		return u, err
	}
	u.Now = b.Version
	after, err := d.Load()
	u.Own = errors.Join(err, lost(before, after))
	return u, nil
}

// lost names the own rules that replaced a rule before and replace none after.
func lost(before, after *Set) error {
	var problems []error
	for _, p := range after.All() {
		was := before.Named(p.Name())
		if p.Override == nil || was == nil || was.Override == nil || was.Source != p.Source {
			continue
		}
		for _, name := range was.Override.Replaced {
			if !slices.Contains(p.Override.Replaced, name) {
				problems = append(problems, problem{file: p.Source, text: fmt.Sprintf("the rule %q replaced one, which is gone: it is now an additional rule", name)})
			}
		}
	}
	return errors.Join(problems...)
}

// Remove removes the installed bundle, and reports whether there was one.
func (d Dirs) Remove() (bool, error) {
	err := os.Remove(d.Bundle)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
