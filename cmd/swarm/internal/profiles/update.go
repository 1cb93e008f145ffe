package profiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/profile/bundle"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/trust"
)

type updateOptions struct {
	from, sha256         string
	older, builtin, json bool
}

func newUpdate(a *app.App) *cobra.Command {
	var o updateOptions
	cmd := &cobra.Command{
		Use:   "update DIR|FILE|URL [flags]",
		Short: "Install newer profiles without a new swarm",
		Long: `Install a bundle of profiles: a directory, an archive .tar.gz of one, or the https address
of such an archive. It replaces the bundle that was installed before; profiles that it lacks
are the built-in ones. Your own profiles are kept and still override the new ones; rules in
them that do not fit any more are reported.

Before that, each recorded screen is read with each profile. If a screen is not read as the
bundle expects, or if a file in it is damaged, nothing is changed. A bundle that is not newer
than the profiles that are there is refused without --allow-older. Once a newer swarm has newer
profiles built in, these are used.

Profiles say what is typed into terminals, and bundles are not signed yet: install only what
you trust. A file must be yours, and the archive at an address must have the hash
that --sha256 gives. Only a person may update, and not from inside a worker.`,
		Example: `  swarm profiles update profiles-2027.01.15.tar.gz
  swarm profiles update ./profiles --json
  swarm profiles update https://example.org/profiles.tar.gz --sha256 9f86d081884c7d65…
  swarm profiles update --builtin`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(0, 1, ""),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.from = strings.Join(args, "")
			if err := o.check(); err != nil {
				return err
			}
			return runUpdate(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sha256, "sha256", "", "the SHA-256 hash that the archive must have")
	f.BoolVar(&o.older, "allow-older", false, "install a bundle that is not newer than the profiles that are there")
	f.BoolVar(&o.builtin, "builtin", false, "go back to the built-in profiles")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

func (o *updateOptions) check() error {
	scheme, _, isURL := strings.Cut(o.from, "://")
	isURL = isURL && !strings.ContainsAny(scheme, "/. ")
	_, unsafe := download.CheckAddress(o.from)
	hash, err := hex.DecodeString(o.sha256)
	switch {
	case o.builtin && (o.from != "" || o.sha256 != "" || o.older):
		return output.Usagef("--builtin goes alone: it removes the installed profiles")
	case o.builtin:
		return nil
	case o.from == "":
		return output.WithHint(output.Usagef("missing a directory, a file or an address"), "'swarm profiles update --builtin' goes back to the built-in profiles")
	case o.from == "index":
		return output.WithHint(output.Usagef("there is no index of profiles yet: it comes together with signatures, in a later release"),
			"until then, give a directory, a file, or an https address with --sha256; ./index is a file of that name")
	case o.sha256 != "" && (err != nil || len(hash) != sha256.Size):
		return output.Usagef("invalid value '%s' for --sha256: expected 64 hexadecimal digits, as sha256sum prints them", o.sha256)
	case isURL && unsafe != nil:
		return output.Usagef("cannot update: %v", unsafe)
	case isURL && o.sha256 == "":
		return output.WithHint(output.Usagef("--sha256 is needed for an address: bundles are not signed yet"),
			"take the hash from a source that you trust, not from the same place as the archive")
	}
	return nil
}

type updateJSON struct {
	// Action is "installed", "unchanged" or "removed".
	Action string `json:"action"`
	Before string `json:"before"`
	Now    string `json:"now"`
	// Screens is how many recorded screens were tested.
	Screens int     `json:"screens"`
	SHA256  *string `json:"sha256"`
}

func runUpdate(ctx context.Context, a *app.App, o updateOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		if err := h.OnlyPerson(ctx); err != nil {
			return err
		}
		if o.builtin {
			return goBack(a, h.ProfileDirs(), o.json)
		}
		b, hash, err := readBundle(ctx, o.from, o.sha256)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(h.Dir(), 0o700); err != nil {
			return err
		}
		u, err := h.ProfileDirs().Install(b, bundle.Origin{From: from(o.from), SHA256: hash, At: time.Now().UTC().Truncate(time.Second)}, o.older)
		if err != nil {
			return refused(err)
		}
		j := updateJSON{Action: "installed", Before: u.Before, Now: u.Now, Screens: u.Tested, SHA256: output.OrNull(hash)}
		if u.Before == u.Now {
			j.Action = "unchanged"
		}
		if err := printUpdate(a, o.json, j); err != nil {
			return err
		}
		if u.Own != nil {
			a.Warn("profiles of your own do not fit any more:", "")
			a.Fail(u.Own)
		}
		return nil
	})
}

func printUpdate(a *app.App, asJSON bool, j updateJSON) error {
	switch {
	case asJSON:
		return a.PrintJSON(j)
	case j.Action == "unchanged":
		a.Printf("profiles %s are there already\n", j.Now)
	default:
		a.Printf("installed profiles %s in place of %s; all %d recorded screens are read as expected\n", j.Now, j.Before, j.Screens)
	}
	return nil
}

// from returns where a bundle is from, as it is recorded: independent of the working directory.
func from(name string) string {
	if strings.HasPrefix(name, "https://") {
		return name
	}
	if absolute, err := filepath.Abs(name); err == nil {
		return absolute
	}
	return name
}

func goBack(a *app.App, dirs profile.Dirs, asJSON bool) error {
	before := profile.BuiltInVersion()
	if set, _ := (profile.Dirs{Bundle: dirs.Bundle}).Load(); set.Installed() != nil && set.Installed().Version != "" {
		before = set.Installed().Version
	}
	removed, err := dirs.Remove()
	if err != nil {
		return err
	}
	j := updateJSON{Action: "removed", Before: before, Now: profile.BuiltInVersion()}
	if !removed {
		j.Action = "unchanged"
	}
	switch {
	case asJSON:
		return a.PrintJSON(j)
	case removed:
		a.Printf("the installed profiles %s are removed; the built-in ones are %s\n", j.Before, j.Now)
	default:
		a.Printf("no profiles are installed; the built-in ones are %s\n", j.Now)
	}
	return nil
}

// refused returns one error for each screen that fails, and what to do about an older bundle.
func refused(err error) error {
	if failed, ok := errors.AsType[*profile.FailedError](err); ok {
		all := []error{fmt.Errorf("nothing is changed: %d recorded screens are not read as expected", len(failed.Verdicts))}
		for _, v := range failed.Verdicts {
			all = append(all, fmt.Errorf("%s/%s: %s", v.Client, v.Name, strings.Join(v.Problems, "; ")))
		}
		return errors.Join(all...)
	}
	if errors.Is(err, profile.ErrOlder) {
		return output.WithHint(err, "nothing is changed; --allow-older installs it")
	}
	return err
}

// readBundle reads a directory, a file or an address. hash is that of the archive in hex, and want
// the required one, if it is not empty.
func readBundle(ctx context.Context, from, want string) (b *bundle.Bundle, hash string, err error) {
	var archive []byte
	if strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://") {
		archive, err = download.New().Bytes(ctx, from, bundle.MaxArchive)
	} else {
		var info os.FileInfo
		if info, err = os.Stat(from); err == nil {
			err = trusted(from)
		}
		if err == nil && info.IsDir() {
			if want != "" {
				return nil, "", output.Usagef("--sha256 is for an archive, and %s is a directory", from)
			}
			b, err = bundle.ReadDir(from)
			return b, "", explained(err)
		}
		if err == nil {
			archive, err = safefile.Read(from, bundle.MaxArchive)
		}
	}
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(archive)
	if hash = hex.EncodeToString(sum[:]); want != "" && !strings.EqualFold(hash, want) {
		return nil, "", fmt.Errorf("%s has the SHA-256 hash %s, not %s", from, hash, strings.ToLower(want))
	}
	b, err = bundle.ReadArchive(from, archive)
	return b, hash, explained(err)
}

func trusted(path string) error {
	absolute, err := filepath.Abs(path)
	if err == nil {
		err = trust.Path(absolute)
	}
	if broken, ok := trust.As(err); ok {
		return output.WithHint(fmt.Errorf("%s cannot be trusted: %w", path, broken), broken.Mend())
	}
	return err
}

func explained(err error) error {
	switch {
	case errors.Is(err, bundle.ErrNewer):
		return output.WithHint(err, "update swarm first")
	case errors.Is(err, bundle.ErrNone):
		return output.WithHint(err, "that file makes a directory a bundle of profiles; it has format = 1 and a version = \"YYYY.MM.DD\"")
	}
	return err
}
