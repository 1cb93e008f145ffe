package caller

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// TokenBytes is how much chance is in a token.
const TokenBytes = 32

// NewToken returns the token of an agent that is about to be started.
func NewToken() string {
	b := make([]byte, TokenBytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// HashToken is what is stored of a token: enough to know it again.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
