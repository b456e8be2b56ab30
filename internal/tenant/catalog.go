package tenant

// Catalog is catalog.json: what is sold, and every fact the agent may state.
type Catalog struct {
	Schema         string          `json:"$schema,omitempty" jsonschema_description:"The editor schema of this file."`
	BusinessName   string          `json:"businessName" jsonschema:"required,minLength=1" jsonschema_description:"The name customers know the business by."`
	Currency       Currency        `json:"currency" jsonschema:"required,pattern=^[A-Z]{3}$" expect:"an ISO 4217 code such as EUR" jsonschema_description:"ISO 4217 code of the business's main currency."`
	Offerings      []Offering      `json:"offerings" jsonschema:"required,minItems=1" was:"courses" jsonschema_description:"What is sold."`
	FAQ            []Question      `json:"faq,omitempty" jsonschema_description:"Questions customers ask, and their answers."`
	PaymentOptions []PaymentOption `json:"paymentOptions,omitempty" jsonschema_description:"The ways to pay; each is a fact the agent may state."`
}

// Offering is one thing that is sold.
type Offering struct {
	ID            string  `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among the offerings."`
	Name          string  `json:"name" jsonschema:"required,minLength=1" jsonschema_description:"The name customers know it by."`
	Description   string  `json:"description" jsonschema:"required,minLength=1" jsonschema_description:"What it is and for whom."`
	Price         Money   `json:"price" jsonschema:"required" jsonschema_description:"The price of one."`
	DurationHours float64 `json:"durationHours,omitempty" jsonschema:"exclusiveMinimum=0" jsonschema_description:"How long it takes altogether, in hours."`
	Schedule      string  `json:"schedule,omitempty" jsonschema:"minLength=1" jsonschema_description:"When it takes place."`
	URL           string  `json:"url,omitempty" jsonschema:"format=uri,pattern=^https://" expect:"an https URL" was:"enrollmentUrl" jsonschema_description:"The page where a customer reads more or signs up; https."`
}

// Question is one entry of the FAQ.
type Question struct {
	Question string `json:"question" jsonschema:"required,minLength=1" jsonschema_description:"As a customer asks it."`
	Answer   string `json:"answer" jsonschema:"required,minLength=1" jsonschema_description:"The answer, as a fact."`
}

// PaymentOption is one way to pay.
type PaymentOption struct {
	ID          string `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among the payment options."`
	Description string `json:"description" jsonschema:"required,minLength=1" jsonschema_description:"How it works, as a fact."`
}

// Offering returns the offering with an id.
func (c *Catalog) Offering(id string) (Offering, bool) {
	for _, o := range c.Offerings {
		if o.ID == id {
			return o, true
		}
	}
	return Offering{}, false
}
