// Package sweep keeps a process among others on one database: it beats, sees which of them
// have stopped beating, and takes over what those, or this process itself, left behind
// (docs/spec/03-turn.md, "Crash recovery").
package sweep
