package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Interruptibly returns the result of read, or the context's cause as soon as the context
// ends: a terminal, a FIFO or a pipe may stay open permanently. A goroutine that still reads
// then ends with the program.
func Interruptibly[T any](ctx context.Context, read func() (T, error)) (data T, err error) {
	type result struct {
		data T
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := read()
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return data, context.Cause(ctx)
	}
}

// Asks reports whether there is a person at a terminal to ask.
func (a *App) Asks() bool { return term.IsTerminal(int(os.Stdin.Fd())) && a.ErrWidth() > 0 }

// Ask asks a question on the terminal. The error is nil for a yes.
func (a *App) Ask(ctx context.Context, question string) error {
	fmt.Fprintf(a.Err, "swarm: %s [y/N] ", safetext.Line(question))
	answer, err := Interruptibly(ctx, func() (string, error) { return bufio.NewReader(os.Stdin).ReadString('\n') })
	if err != nil {
		fmt.Fprintln(a.Err) // the cursor stands behind the question
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("the answer was not yes: nothing was done")
}

// ReadEnvFiles returns the variables of files that a command names, KEY=VALUE: each is read once,
// and may be a pipe, or "-" for stdin.
func ReadEnvFiles(ctx context.Context, files []string) ([]string, error) {
	var all []string
	for _, file := range files {
		variables, err := Interruptibly(ctx, func() ([]string, error) { return config.ReadEnvFrom(file, os.Stdin) })
		if err != nil {
			return nil, err
		}
		all = append(all, variables...)
	}
	return all, nil
}

// ReadInput reads a text to send. The newline at its end is the Enter, if there is
// one to be.
func ReadInput(ctx context.Context, r io.Reader, enter bool) ([]byte, error) {
	data, err := Interruptibly(ctx, func() ([]byte, error) {
		data, err := io.ReadAll(io.LimitReader(r, swarm.MaxInput+1))
		if err != nil {
			return nil, fmt.Errorf("cannot read stdin: %w", errtext.Cause(err))
		}
		return data, nil
	})
	if err != nil {
		return nil, err
	}
	if end := len(data) - 1; enter && end >= 0 && data[end] == '\n' {
		data = data[:end]
	}
	return data, nil
}
