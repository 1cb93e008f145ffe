package integrate

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

// skillText is the template of the skill; the rest comes from the help and the table of
// tools.
//
//go:embed skill.md
var skillText string

func NewSkill(a *app.App, tree func() *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "skill",
		Short: "Print a skill that teaches an agent to use swarm",
		Long: `Print a file in the Agent Skills format (SKILL.md). It says when and how an agent should
use swarm, and lists all commands and tools of this version, one line each.`,
		Example: `  mkdir -p ~/.claude/skills/swarm && swarm skill > ~/.claude/skills/swarm/SKILL.md`,
		Args:    command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			text, err := Skill(tree())
			if err == nil {
				a.Printf("%s", output.Made(text))
			}
			return err
		},
	}
}

type skillData struct {
	About, Example string
	Groups         []skillGroup
	Tools          []tool.Tool
}

type skillGroup struct {
	Title string
	Verbs []*cobra.Command
}

// Skill returns the skill of this version.
func Skill(root *cobra.Command) (string, error) {
	data := skillData{About: root.Long, Example: strings.ReplaceAll(strings.TrimPrefix(root.Example, "  "), "\n  ", "\n"), Tools: tool.All()}
	for _, group := range root.Groups() {
		g := skillGroup{Title: group.Title}
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID && cmd.IsAvailableCommand() {
				g.Verbs = append(g.Verbs, skillVerbs(cmd)...)
			}
		}
		if len(g.Verbs) > 0 { // else it has only help pages
			data.Groups = append(data.Groups, g)
		}
	}
	var text strings.Builder
	functions := template.FuncMap{"firstSentence": firstSentence}
	err := template.Must(template.New("skill").Funcs(functions).Parse(skillText)).Execute(&text, data)
	return strings.TrimRight(text.String(), "\n") + "\n", err
}

// skillVerbs returns a command, or those below it if it only has others.
func skillVerbs(cmd *cobra.Command) (verbs []*cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return []*cobra.Command{cmd}
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			verbs = append(verbs, skillVerbs(sub)...)
		}
	}
	return verbs
}

func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if sentence, _, more := strings.Cut(text, ". "); more {
		return sentence + "."
	}
	return text
}
