package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// NotFoundError says that there is no plugin of that name.
type NotFoundError struct {
	Name string
	// Known are the names that there are.
	Known []string
	// Looked are the searched places, such as "PATH"; empty if the name itself is invalid.
	Looked []string
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no such plugin '%s'", e.Name)
	switch {
	case e.Looked == nil:
		b.WriteString(": names are lower-case letters, digits and hyphens")
	case len(e.Known) > 0:
		b.WriteString("; plugins here: " + strings.Join(e.Known, ", "))
	}
	if len(e.Looked) > 0 {
		fmt.Fprintf(&b, " (looked for %s%s in %s)", Prefix, e.Name, strings.Join(e.Looked, ", "))
	}
	return b.String()
}

// MissingError says that an expected program does not exist, or is not a program.
type MissingError struct {
	// Name is the plugin; empty for other programs.
	Name string
	// Path is where it should be.
	Path string
	// Configured says that Path comes from a config entry.
	Configured bool
	// Looked are the searched directories; nil if Path is absolute.
	Looked []string

	relative bool
	err      error
}

func (e *MissingError) Error() string {
	var b strings.Builder
	if e.Name != "" {
		fmt.Fprintf(&b, "plugin '%s': ", e.Name)
	}
	what := e.Path
	if e.Configured {
		what += " (from the config)"
	}
	switch {
	case e.relative && e.Configured:
		fmt.Fprintf(&b, "%s is neither in PATH nor an absolute path", what)
	case e.relative:
		fmt.Fprintf(&b, "%q is not an absolute path", what)
	case e.Looked != nil:
		fmt.Fprintf(&b, "no %s in %s", what, strings.Join(e.Looked, ", "))
	case e.err == nil || errors.Is(e.err, fs.ErrNotExist):
		fmt.Fprintf(&b, "%s does not exist", what)
	case errors.Is(e.err, fs.ErrPermission):
		fmt.Fprintf(&b, "%s: permission denied", what)
	default:
		fmt.Fprintf(&b, "%s: %v", what, e.err)
	}
	return b.String()
}

// Unwrap returns why the program can't be used.
func (e *MissingError) Unwrap() error { return e.err }

// VersionError says that a version of a plugin is not installed.
type VersionError struct {
	Name, Version string
	// Installed are the versions that are, the newest first.
	Installed []string
}

func (e *VersionError) Error() string {
	if len(e.Installed) == 0 {
		return fmt.Sprintf("plugin '%s': version %s is not installed, nor is any other", e.Name, e.Version)
	}
	return fmt.Sprintf("plugin '%s': version %s is not installed; installed: %s", e.Name, e.Version, strings.Join(e.Installed, ", "))
}

// PrereleaseError says that only pre-releases of a plugin are installed, none of which the config names.
type PrereleaseError struct {
	Name string
	// Versions are those that are installed, the newest first.
	Versions []string
}

func (e *PrereleaseError) Error() string {
	return fmt.Sprintf("plugin '%s' is installed as a pre-release only (%s), which runs if the config names it: version = %q in [plugins.%s]",
		e.Name, strings.Join(e.Versions, ", "), e.Versions[0], e.Name)
}

// LinkError refuses a symbolic link among installed files.
type LinkError struct {
	// Path is the plugin, Link the link.
	Path, Link string
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("refusing to run %s: %s is a symbolic link, and an installation has none", e.Path, e.Link)
}

// NameError means that a program is found by one name and calls itself by another.
type NameError struct {
	Name, Path, Theirs string
	// Configured says that a config file names the program.
	Configured bool
}

func (e *NameError) Error() string {
	way := "rename it to " + Program(e.Theirs)
	if e.Configured {
		way = fmt.Sprintf("name its table [plugins.%s], or install a plugin that calls itself '%s'", e.Theirs, e.Name)
	}
	return fmt.Sprintf("%s is the plugin '%s', not '%s': %s", e.Path, e.Theirs, e.Name, way)
}
