package host

import "context"

// Kill ends the selected workers, see [kill.Killer.Kill].
func (h *Host) Kill(ctx context.Context, sel Selection, req KillRequest) ([]KillOutcome, error) {
	return h.killer().Kill(ctx, sel, req)
}

// Clean removes what is left of stopped workers, see [kill.Killer.Clean].
func (h *Host) Clean(ctx context.Context, sel Selection, req CleanRequest) ([]CleanOutcome, error) {
	return h.killer().Clean(ctx, sel, req)
}
