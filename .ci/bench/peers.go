package main

import "context"

func peers(context.Context, *world, options) ([]row, error) { return nil, nil }
