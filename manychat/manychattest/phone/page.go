package phone

// Page is how the account presents itself in getInfo of the page.
type Page struct {
	Name, Category, AvatarLink, Username, About, Description, Timezone string

	OTNTopics []string // one-time-notification topics
}
