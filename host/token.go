package host

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// tokenBytes is how much chance is in a token.
const tokenBytes = 32

// newToken returns the token of an agent that is about to be started.
func newToken() string {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// tokenHash is what is stored of a token: enough to know it again.
func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
