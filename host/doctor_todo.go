package host

import (
	"context"
	"errors"
)

var errTODO = errors.New("not built yet")

func (h *Host) Doctor(ctx context.Context, rebuild bool) ([]Finding, error) { return nil, errTODO }
