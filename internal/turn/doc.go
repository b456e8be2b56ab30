// Package turn is the life of one exchange: the message is recorded before anything
// waits, the model races the deadline, guardrails judge its reply, and one
// transaction settles the outcome together with the one route the reply takes.
package turn
