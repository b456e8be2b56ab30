// Package phone holds the words of the ManyChat emulator: who a contact is, what
// they write, what their phone shows, and what a flow plays.
//
// The values are plain data and carry JSON tags, so that a page can show them and
// a snapshot can keep them. Package manychattest gives each of them its own name
// as well; most programs need only that package.
package phone
