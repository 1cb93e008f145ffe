package swarm

import "context"

type warnKey struct{}

// Warn shows a warning to the user of the call whose context ctx is: one line about something
// that the user should know and that does not make the call fail, such as an option that had no
// effect. It works in Spawn, Kill, Create and Remove, in whatever they call, until they return;
// in other calls it does nothing. A host shows the first [MaxWarnings] of a call.
func Warn(ctx context.Context, text string) {
	if warn, ok := ctx.Value(warnKey{}).(func(string)); ok {
		warn(text)
	}
}

// MaxWarnings is how many warnings one call can have; later ones are dropped.
const MaxWarnings = 20

// WithWarnings returns a context for calls whose warnings go to warn. It is called concurrently
// if the calls warn concurrently. The SDK gives a plugin such contexts.
func WithWarnings(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}
