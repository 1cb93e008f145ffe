package plugin

import (
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/swarm"
)

type pluginCheckOptions struct {
	json, verbose     bool
	run               string
	parallel, workers int
	command, base     string
	handles           string
	options           []string
}

func newCheck(a *app.App) *cobra.Command {
	o := &pluginCheckOptions{}
	cmd := &cobra.Command{
		Use:   "check PATH|NAME [flags]",
		Short: "Check a plugin against the contract",
		Long: `Run all cases of the conformance kit against a built plugin, in whatever language
it was written, and report for each case whether the plugin keeps its rule. For a
broken rule, the report says what was observed and how to reproduce it. Each case
starts the plugin anew, with the settings that the config has for it; one case kills it
in every call.

An argument with a slash is the path of a plugin, any other argument a name. Rules
about capabilities that the plugin does not claim are skipped.

The cases spawn real workers on the engine that the plugin's settings name. A plugin
for a terminal multiplexer uses the user's usual server unless an --option names
another. All workers are ended again. Their scripts need a POSIX shell where the worker
runs. If there is no such shell, --command says how to run a script: a program and its
arguments, in which {name} is the name of the script and {shell} its text.

With --json the fields are name, version, kind, contract, local, capabilities, path;
ok, failed, skipped, not_run: the counts; cases: each with name, rule, result (ok,
failed, skipped, not-run), why, problems, log, seconds.

After Ctrl-C or SIGTERM, running cases are ended and cleaned up. They count as not run,
like the cases that had not begun.

The exit code is 1 if a rule was broken, or if the check was interrupted.`,
		Example: `  swarm plugin check ./swarm-plugin-queue
  swarm plugin check queue --run '^kill-' --verbose
  swarm plugin check tmux --option socket=check
  swarm plugin check ./swarm-plugin-queue --json | jq -r '.cases[] | select(.result == "failed") | .rule'`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(1, 1, "path or name of a plugin"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if strings.Contains(prefix, "/") {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return completePlugins(a)(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("parallel") {
				o.parallel = min(2*runtime.NumCPU(), 8)
			}
			return runCheck(a, args[0], o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	f.BoolVar(&o.verbose, "verbose", false, "print skipped cases too, and what the plugin logged")
	f.StringVar(&o.run, "run", "", "only cases whose names match the regular `EXPRESSION`")
	f.IntVar(&o.parallel, "parallel", 0, "how many cases to run at the same time (default: two for each processor, at most 8)")
	f.IntVar(&o.workers, "workers", 100, "how many workers there are in the case about many")
	f.StringVar(&o.command, "command", "", "`WORDS` that run a script where there is no POSIX shell")
	f.StringArrayVar(&o.options, "option", nil, "`KEY=VALUE` that only the backend understands, for every worker; {id} is the worker's id")
	f.StringVar(&o.handles, "handles", "", "`FILE` of handles that older versions wrote: a JSON array of {version, data: base64}")
	f.StringVar(&o.base, "base", "", "shell `COMMAND` that makes the base of workspaces (default: a git repository)")
	return cmd
}

func runCheck(a *app.App, target string, o *pluginCheckOptions) error {
	if _, err := regexp.Compile(o.run); err != nil {
		return output.Usagef("invalid value '%s' for --run: %v", o.run, err)
	}
	if o.parallel < 1 || o.workers < 1 {
		return output.Usagef("--parallel and --workers are at least 1")
	}
	for _, option := range o.options {
		if key, _, ok := strings.Cut(option, "="); !ok || key == "" {
			return output.Usagef("invalid value '%s' for --option: expected KEY=VALUE", option)
		}
	}
	command, err := a.Companion("check")
	if err != nil {
		return err
	}
	command = append(command,
		"-parallel", strconv.Itoa(o.parallel), "-workers", strconv.Itoa(o.workers),
		"-json="+strconv.FormatBool(o.json), "-verbose="+strconv.FormatBool(o.verbose))
	for _, flag := range [][2]string{{"-run", o.run}, {"-command", o.command}, {"-handles", o.handles}, {"-base", o.base}} {
		if flag[1] != "" {
			command = append(command, flag[0], flag[1])
		}
	}
	for _, option := range o.options {
		command = append(command, "-option", option)
	}
	return a.Become(swarm.Program{Command: append(command, "--", target)})
}
