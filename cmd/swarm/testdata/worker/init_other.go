//go:build !linux

package main

// first can't be the first process here.
func first(string, []string) {}
