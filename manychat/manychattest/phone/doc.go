// Package phone holds the words of the ManyChat emulator: who a contact is, what
// they write, what their phone shows, and what a flow plays.
//
// The values are plain data and carry JSON tags, so that a page can show them and
// a snapshot can keep them. Package manychattest gives the structs of a setup its own
// names as well; the constants, such as [Text] or [ViaFlow], are here.
package phone
