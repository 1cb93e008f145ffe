package integrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/internal/integration"
	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
)

// Limits of a hook: the agent waits for it. It takes milliseconds if nothing hangs.
const (
	hookLimit = 2 * time.Second
	hookGrace = 200 * time.Millisecond
	// answerLimit is the limit of a hook that waits for an answer. It ends before the client
	// ends the hook.
	answerLimit = (integration.AnswerLimit - 10) * time.Second
	// hookInputLimit is how long reading the input may take, hookInputSize how much of it
	// is read. The input holds the output of a tool and can be long; the rest is discarded.
	hookInputLimit = time.Second
	hookInputSize  = 1 << 20
)

func NewHook(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook CLIENT EVENT",
		Short: "Record what a coding agent's hook reports",
		Long: `Record what a coding agent does. Agents call this themselves, as a hook that 'swarm
integrate' puts into their configuration, with JSON on standard input.

If the agent is a worker of swarm, its state and the id of its conversation are
recorded, and the answer holds the messages and tasks that wait for it. Otherwise
nothing happens. With --answers the hook of a question waits for its answer.

A hook never stops an agent and never makes it fail: whatever goes wrong, the exit code
is 0 and nothing is printed. SWARM_LOG=debug prints errors to standard error.`,
		Example:            `  swarm hook claude Stop < input.json`,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		ValidArgsFunction:  app.OfferOne(func(context.Context) ([]string, error) { return integration.Names(), nil }),
		RunE: func(cmd *cobra.Command, args []string) error {
			// A value that is no bool means that the flag is not set: a hook never fails.
			answers, _ := cmd.Flags().GetBool("answers")
			runHook(cmd.Context(), a, args, os.Stdin, answers)
			return nil
		},
	}
	cmd.Flags().Bool("answers", false, "wait for an answer to the agent's question, and return it")
	return cmd
}

// runHook records the event of a hook within [hookLimit], and gives up without a message.
func runHook(ctx context.Context, a *app.App, args []string, stdin *os.File, answers bool) {
	output.FinishWriting()
	log := cmp.Or(a.Logger(), hclog.NewNullLogger())
	limit := hookLimit
	if answers {
		limit = answerLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		// An agent takes the exit code of a panic as an order to stop.
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- takeHook(ctx, a, args, stdin, answers)
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		// The message that it has just taken must be shown.
		grace := time.NewTimer(hookGrace)
		defer grace.Stop()
		select {
		case err = <-done:
		case <-grace.C:
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		log.Debug("a hook was not taken", "args", args, "error", err)
	}
}

func takeHook(ctx context.Context, a *app.App, args []string, stdin *os.File, answers bool) error {
	if len(args) != 2 {
		return errors.New("expected a client and an event")
	}
	if term.IsTerminal(int(stdin.Fd())) {
		return errors.New("standard input is a terminal")
	}
	client := integration.Named(args[0])
	if client == nil {
		return errors.New("no such client")
	}
	s := setup.Setup{Env: a.Env, Logger: a.Logger(), Command: a.Command}
	hook, err := client.ReadHook(args[1], readHook(stdin))
	if err != nil {
		return err
	}
	h, err := s.Open(ctx, hookConfig(s))
	if err != nil {
		return err
	}
	write := func(answer []byte, err error) error {
		if err == nil {
			_, err = a.Out.W.Write(append(answer, '\n'))
		}
		return err
	}
	if answers && hook.Asks() {
		answer, ok, err := h.Notifier().Decide(ctx, hook.Event)
		if ok {
			err = errors.Join(err, write(hook.Decide(answer)))
		}
		return errors.Join(err, h.Close())
	}
	notices, err := h.Notifier().Hook(ctx, hook.Event)
	if notices != "" {
		err = errors.Join(err, write(hook.Answer(notices)))
	}
	return errors.Join(err, h.Close())
}

// hookConfig returns the settings that matter to a hook. Only the user's file has any, and a
// mistake in it does not.
func hookConfig(s setup.Setup) config.Config {
	cfg := config.Default()
	if loaded, _ := s.LoadUser(); loaded != nil {
		cfg.Team = loaded.Config.Team
	}
	return cfg
}

// readHook returns the input, up to the limits. It does not wait for a client that does not
// close its end, and reads longer input to its end, so that the client gets no broken pipe.
func readHook(r io.Reader) []byte {
	var mu sync.Mutex
	var input []byte
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		chunk := make([]byte, 64<<10)
		for {
			n, err := r.Read(chunk)
			mu.Lock()
			input = append(input, chunk[:min(n, hookInputSize-len(input))]...)
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	timer := time.NewTimer(hookInputLimit)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Clip(input)
}
