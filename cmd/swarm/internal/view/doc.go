// Package view holds how the answers of the host are shown: workers as JSON and as lines, states of
// agents, outcomes of kills and cleans.
package view
