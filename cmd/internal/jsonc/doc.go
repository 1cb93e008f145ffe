// Package jsonc edits JSON texts, with comments and trailing commas or without, so that
// everything but the edited members stays byte for byte as it is. It is imported by the
// commands of cmd alone.
package jsonc
