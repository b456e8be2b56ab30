// Package archtest holds the house rules of ARCHITECTURE.md true: who may import
// whom, names, sizes, package state, what the documents claim about the tree, and
// that no tenant data is in it.
//
// Every rule is a function over a [Tree], which is read from any [io/fs.FS]: the
// tests run each rule over a small planted tree in which it must fail, and all of
// them over the repository. The rules read source files themselves. A test that asks
// the go command what imports what can pass from the test cache after a violation.
package archtest
