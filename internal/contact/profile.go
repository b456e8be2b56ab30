package contact

// Profile is what the tenant's files let the agent know of a contact, by configured ids:
// nothing else of what ManyChat holds is in it.
type Profile struct {
	Tags   []string          // ids of the configured and readable tags the contact has
	Fields map[string]string // value by id, of the configured and readable fields that are set; a value outside the list is [OtherValue]
	Notes  map[string]string // text by id, of the notes that are written; untrusted
}

// OtherValue stands for a value that the tenant's files do not list.
const OtherValue = "other"
