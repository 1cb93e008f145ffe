package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

const notice = "<!-- Generated from the help of swarm by 'make commands'. Do not edit. -->\n"

// The lines of README.md around its table of commands.
const (
	tableBegin = "<!-- commands: generated from the help of swarm by 'make commands' -->\n"
	tableEnd   = "<!-- end of commands -->\n"
)

// render returns the text of each generated file.
func render(root command) (map[string][]byte, error) {
	files := map[string][]byte{pagesDir + "/README.md": []byte(renderIndex(root))}
	for _, c := range root.below() {
		files[pagesDir+"/"+c.words[0]+".md"] = []byte(notice + renderCommand(c, 1))
	}
	const readme = "README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	_, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		return nil, errors.New(readme + ": the comments around the table of commands are missing")
	}
	files[readme] = []byte(before + tableBegin + renderTable(root) + tableEnd + after)
	return files, nil
}

// renderTable returns the table of commands for README.md.
func renderTable(root command) string {
	var b strings.Builder
	for _, g := range root.groups {
		fmt.Fprintf(&b, "\n**%s**\n\n| command | what it does |\n|---|---|\n", g.title)
		for _, c := range g.commands {
			name := "swarm " + c.words[0]
			var subs []string
			for _, sub := range c.below() {
				subs = append(subs, "`"+sub.words[1]+"`")
			}
			short := cell(c.short)
			if len(subs) > 0 {
				short += ": " + strings.Join(subs, ", ")
			}
			fmt.Fprintf(&b, "| [`%s`](%s/%s.md) | %s |\n", name, pagesDir, c.words[0], short)
		}
	}
	return b.String() + "\n"
}

// renderIndex returns the page that lists all commands, those below others too.
func renderIndex(root command) string {
	var b strings.Builder
	b.WriteString(notice + "# Commands\n\n```text\n" + root.help + "```\n")
	for _, g := range root.groups {
		fmt.Fprintf(&b, "\n## %s\n\n| command | what it does |\n|---|---|\n", g.title)
		for _, c := range g.commands {
			fmt.Fprintf(&b, "| [`%s`](%s.md) | %s |\n", c.path(), c.words[0], cell(c.short))
			for _, sub := range c.below() {
				fmt.Fprintf(&b, "| [`%s`](%s.md#%s) | %s |\n", sub.path(), c.words[0], strings.ReplaceAll(sub.path(), " ", "-"), cell(sub.short))
			}
		}
	}
	return b.String()
}

// renderCommand returns the section of a command and of those below it.
func renderCommand(c command, level int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s.\n\n```text\n%s```\n", strings.Repeat("#", level), c.path(), c.short, c.help)
	for _, sub := range c.below() {
		b.WriteString("\n" + renderCommand(sub, level+1))
	}
	return b.String()
}

// cell returns text as it may stand in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
