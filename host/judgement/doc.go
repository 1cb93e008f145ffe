// Package judgement joins what is known of a coding agent into its state. An agent's screen
// and its hooks are two sources, its process is a third one; they report at different times
// and may contradict each other. [Of] alone decides which of them counts for each part of the
// state, and says why.
package judgement
