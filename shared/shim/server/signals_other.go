//go:build !linux || !(amd64 || arm64)

package server

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// catch calls caught for each of some signals that this process gets, in a goroutine. Several
// signals of one kind may be one.
func catch(caught func(unix.Signal), signals ...unix.Signal) error {
	// One channel for each: of two kinds that come at once none is lost.
	for _, sig := range signals {
		c := make(chan os.Signal, 8)
		signal.Notify(c, sig)
		go func() {
			for s := range c {
				caught(s.(unix.Signal))
			}
		}()
	}
	return nil
}
