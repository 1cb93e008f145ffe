package profiles

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/profile/bundle"
	"github.com/swarmhost/swarm/host/redact"
	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/screen"
)

type recordOptions struct {
	worker, as, to, version string
	words                   []string
	force                   bool
}

func newRecord(a *app.App) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record NAME [flags]",
		Short: "Record the screen of a worker as a test of its profile",
		Long: `Write what the terminal of a worker shows, with its styles, into a file that
"swarm profiles test" reads: screens/CLIENT/NAME.txt in your own directory of profiles, or
where --output says. The file is printed, too.

The name says what the screen shows. It begins with one of background, blocked, busy,
compacting, draft, error, limit, other and prompt, such as blocked-deploy; without --as it is
the state that swarm reads. If swarm reads what the name says, the first line of the file has
the rule, the number of choices and the question as well, which are tested from then on.

Masked, in the same width: your user name, parts of your home directory, the name of this
machine, values of variables of your environment that are called a key, token, secret or
password, texts in the form of such, e-mail addresses, and ids of sessions. --redact masks
more. Read the file before you give it to others.

Only a person may record, and not from inside a worker.`,
		Example: `  swarm profiles record agent
  swarm profiles record agent --as claude/blocked-deploy --client-version 2.1.332
  swarm profiles record agent --as claude/prompt-mine --output ./profiles --redact 'Project X'`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction:     a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.worker = args[0]
			return runRecord(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.as, "as", "", "the client and what the screen shows, such as claude/blocked-deploy")
	f.StringVarP(&o.to, "output", "o", "", "the file, a directory such as a bundle, or - for the standard output alone")
	f.StringVar(&o.version, "client-version", "", "the version of the client, for the first line")
	f.StringArrayVar(&o.words, "redact", nil, "mask this text, too (repeatable)")
	f.BoolVar(&o.force, "force", false, "replace a file that exists")
	command.CompleteFlag(cmd, "as", func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		var all []string
		for _, name := range a.ProfileNames() {
			for _, kind := range profile.Kinds() {
				all = append(all, name+"/"+kind)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return cmd
}

func runRecord(ctx context.Context, a *app.App, o recordOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		if err := h.OnlyPerson(ctx); err != nil {
			return err
		}
		e, err := h.Display().Explain(ctx, o.worker)
		if err != nil {
			return err
		}
		set, _ := h.Profiles() // 'swarm profiles ls' reports mistakes in a profile
		p := e.Profile
		if client, _, named := strings.Cut(o.as, "/"); named {
			p = set.Named(client)
			if p == nil {
				return output.WithHint(fmt.Errorf("unknown profile '%s'", client), "write its profile first: 'swarm profiles ls' lists those that exist")
			}
		}
		switch {
		case e.Profile == nil:
			return output.WithHint(fmt.Errorf("'%s' has no profile, so its screen is not known", o.worker), "give it one: swarm spawn --profile NAME")
		case len(e.Lines) == 0:
			return fmt.Errorf("the screen of '%s' is empty, or its backend shows none", o.worker)
		case e.Styled == nil:
			a.Warn("the styles of this screen are not known", "a screen of a running worker in tmux has them")
		}
		r := &profile.Recording{Client: p.Name(), Screen: profile.Screen{Lines: e.Lines, Styled: e.Styled}}
		before := p.Look(r.Screen)
		masker := redact.New(known(a, o.words))
		r.Screen.Lines, r.Screen.Styled = masker.Lines(e.Lines, e.Styled)
		if after := p.Look(r.Screen); after.State != before.State || after.Rule != before.Rule || len(after.Choices) != len(before.Choices) {
			a.Warn(fmt.Sprintf("with the masked texts the screen is read as %s (%s), not as %s (%s)",
				after.State, cmp.Or(after.Rule, "no rule"), before.State, cmp.Or(before.Rule, "no rule")), "")
		}
		_, r.Name, _ = strings.Cut(o.as, "/")
		file, err := o.file(h.ProfileDirs().Own, r, before)
		if err != nil {
			return err
		}
		text := r.Text(p, o.version, size(e.Lines))
		if _, err := profile.ParseRecording(r.Client+"/"+r.Name, text); err != nil {
			return err
		}
		return write(a, file, text, masker.Found, o.force)
	})
}

// write writes a recording, and prints it and what was masked.
func write(a *app.App, file, text string, found map[string]int, force bool) error {
	if file == "-" {
		fmt.Fprint(a.Out, text)
		return a.Out.Err
	}
	if exists(file) && !force {
		return output.WithHint(fmt.Errorf("%s exists", file), "--force replaces it")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := safefile.Replace(file, []byte(text), 0o600); err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		a.Printf("%s\n", screen.Plain(strings.TrimSuffix(line, "\n")))
	}
	var masked []string
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		masked = append(masked, fmt.Sprintf("%s %d", kind, found[kind]))
	}
	a.Printf("\nwritten: %s\nmasked: %s\n", file, cmp.Or(strings.Join(masked, ", "), "nothing"))
	a.Tip("read it before you give it to others; --redact TEXT masks more")
	return nil
}

// known is what is masked on a screen.
func known(a *app.App, words []string) redact.Known {
	k := redact.Known{Home: a.Getenv("HOME"), User: cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME")), Words: words}
	k.Host, _ = os.Hostname()
	for _, kv := range a.Env {
		if name, value, _ := strings.Cut(kv, "="); secretName().MatchString(name) {
			k.Secrets = append(k.Secrets, value)
		}
	}
	return k
}

// secretName matches the names of variables whose values are secret.
var secretName = lazyregexp.New(`(?i)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$`)

// size is how large a screen is, as far as its lines show that.
func size(lines []string) string {
	width := 0
	for _, line := range lines {
		width = max(width, ansi.StringWidthWc(line))
	}
	return fmt.Sprintf("%dx%d", width, len(lines))
}

// file returns the path of a recording, and gives it a name if it has none.
func (o *recordOptions) file(own string, r *profile.Recording, l profile.Look) (string, error) {
	named := r.Name != ""
	if !named {
		r.Name = profile.KindOf(l)
	}
	if !bundle.ScreenName(r.Client, r.Name) {
		return "", output.Usagef("invalid value '%s' for --as: expected CLIENT/NAME in lower-case letters, digits and dashes, such as claude/blocked-deploy", o.as)
	}
	dir := cmp.Or(o.to, own)
	if dir == "" {
		return "", output.Usagef("--output is needed: neither XDG_CONFIG_HOME nor HOME says where your own profiles are")
	}
	if o.to != "" && (o.to == "-" || !isDir(o.to)) {
		return o.to, nil
	}
	path := func() string { return filepath.Join(dir, bundle.Screens, r.Client, r.Name+".txt") }
	for n, kind := 2, r.Name; !named && !o.force && exists(path()); n++ {
		r.Name = fmt.Sprintf("%s-%d", kind, n)
	}
	return path(), nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
