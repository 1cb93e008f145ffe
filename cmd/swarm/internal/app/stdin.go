package app

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/errtext"
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
