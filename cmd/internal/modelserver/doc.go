// Package modelserver is a model for real coding agents, for tests alone: an HTTP server on
// 127.0.0.1 that speaks the APIs of the agents' vendors and answers what the test scripted.
//
// It serves the Anthropic Messages API, the OpenAI Responses and Chat Completions APIs and
// the Gemini API, streamed and whole. Every request is recorded, so a test knows which
// prompt arrived, whole and once.
//
// A client's agent asks with tools. Its other requests, such as one for a title of the
// session, come without tools: they are answered at once and take no turn of the script.
package modelserver
