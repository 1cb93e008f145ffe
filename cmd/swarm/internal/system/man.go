package system

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
)

// NewMan returns the command that writes the manual pages of the commands in tree.
func NewMan(a *app.App, tree func() *cobra.Command) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man --dir DIR",
		Short: "Write manual pages",
		Long: `Write a manual page for each command and each topic of the help into DIR, which is
created if it is missing: swarm.1, swarm-spawn.1, swarm-team-create.1 and so on. Pages that
are there are replaced, other files stay.`,
		Example: `  swarm man --dir ~/.local/share/man/man1`,
		Args:    command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if dir == "" {
				return output.Usagef("required flag --dir not set")
			}
			date, err := manDate(a.Getenv("SOURCE_DATE_EPOCH"))
			if err != nil {
				return err
			}
			pages := manPages(tree(), date)
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return err
			}
			for _, page := range pages {
				if err := os.WriteFile(filepath.Join(dir, page.name+".1"), []byte(page.text), 0o666); err != nil {
					return err
				}
			}
			a.Printf("wrote %d pages\n", len(pages))
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`DIR` for the pages; required")
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}

type manPage struct{ name, text string }

// manDate returns the date of the pages: that of epoch, seconds as a text, if it is set,
// else today.
func manDate(epoch string) (string, error) {
	at := time.Now()
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return "", fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: '%s'", epoch)
		}
		at = time.Unix(seconds, 0)
	}
	return at.UTC().Format(time.DateOnly), nil
}

func manPages(cmd *cobra.Command, date string) []manPage {
	pages := []manPage{{manName(cmd), manText(cmd, date)}}
	for _, sub := range cmd.Commands() {
		if documented(sub) {
			pages = append(pages, manPages(sub, date)...)
		}
	}
	return pages
}

func documented(cmd *cobra.Command) bool {
	return cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand()
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manText(cmd *cobra.Command, date string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`.TH "%s" 1 "%s" "swarm" "User Commands"`, strings.ToUpper(manName(cmd)), date)
	line(".SH NAME")
	line(`%s \- %s`, roff(manName(cmd)), roff(cmd.Short))
	if cmd.Runnable() {
		line(".SH SYNOPSIS")
		line(".B %s", roff(cmd.UseLine()))
	}
	line(".SH DESCRIPTION")
	b.WriteString(roffParagraphs(cmd.Long, cmd.Short))
	if cmd.HasAvailableLocalFlags() {
		line(".SH OPTIONS")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				b.WriteString(roffFlag(f))
			}
		})
	}
	if cmd.HasExample() {
		line(".SH EXAMPLES")
		line(".nf")
		for example := range strings.Lines(cmd.Example) {
			line("%s", roff(strings.TrimPrefix(strings.TrimSuffix(example, "\n"), "  ")))
		}
		line(".fi")
	}
	b.WriteString(roffSeeAlso(cmd))
	return b.String()
}

// roffParagraphs is a long text. Lines that are indented keep their breaks.
func roffParagraphs(text, without string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(cmp.Or(text, without+".")), "\n\n") {
		asIs := strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ")
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if asIs {
			b.WriteString(".nf\n")
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			b.WriteString(roff(line) + "\n")
		}
		if asIs {
			b.WriteString(".fi\n")
		}
	}
	return b.String()
}

func roffFlag(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	name := `\fB\-\-` + roff(f.Name) + `\fR`
	if f.Shorthand != "" {
		name = `\fB\-` + f.Shorthand + `\fR, ` + name
	}
	if value != "" {
		name += ` \fI` + roff(value) + `\fR`
	}
	if !strings.Contains(usage, "(default") && !slices.Contains([]string{"", "false", "[]", "0", "0s"}, f.DefValue) {
		usage += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	return ".TP\n" + name + "\n" + roff(usage) + "\n"
}

func roffSeeAlso(cmd *cobra.Command) string {
	var names []string
	if cmd.HasParent() {
		names = append(names, manName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if documented(sub) {
			names = append(names, manName(sub))
		}
	}
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = fmt.Sprintf(".BR %s (1)", roff(name))
	}
	return ".SH SEE ALSO\n" + strings.Join(names, ",\n") + "\n"
}

func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
