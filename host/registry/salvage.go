package registry

import (
	"context"
	"net/url"
)

// Salvage returns what can be read of the history in a damaged database, in its
// order. It returns nothing if that is all.
func Salvage(ctx context.Context, path string) []Event {
	r, err := open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }() // it is damaged already
	// A page that can't be read ends the reading; what came before it is good.
	events, _ := r.events(ctx, "SELECT "+eventColumns+" FROM events ORDER BY seq")
	return events
}
