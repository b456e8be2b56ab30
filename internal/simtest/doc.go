// Package simtest plays the whole service on a fake clock, under seeded faults, and checks
// afterwards that every invariant of docs/spec/17-quality.md held (docs/simulation.md). All of it
// is tests.
//
// A play has one database, two processes over it that crash, freeze and restart, an emulated
// ManyChat whose contacts write, and a model that answers as a seed says. One seed is one
// play: what goes wrong, and when to the nanosecond, follows from it, so that a play can be
// repeated.
package simtest
