package manychattest

import (
	"net/http"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/inproc"
)

// Transport joins a client and a handler without a socket, in both directions: an
// API client with the emulator, or the emulator (through Config.Client) with the
// server under test. It works in testing/synctest bubbles, where a socket would
// hang. The handler goes on when the client gives up, as it does behind a network;
// a handler that panics with http.ErrAbortHandler breaks the connection.
func Transport(h http.Handler) http.RoundTripper { return inproc.Transport{Handler: h} }

// ErrConnectionBroken is what a client of [Transport] gets from a broken connection.
var ErrConnectionBroken = inproc.ErrBroken
