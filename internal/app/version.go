package app

// Version is the version in CHANGELOG.md that this program is, or will be.
const Version = "0.1.0"
