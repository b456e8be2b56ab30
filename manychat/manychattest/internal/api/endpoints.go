package api

// family is a group of endpoints that share a rate limit. Package fault names the
// same families.
type family string

const (
	sendFlow      family = "sendFlow"
	sendContent   family = "sendContent"
	contactReads  family = "subscriber reads"
	contactWrites family = "subscriber writes"
	systemReads   family = "system field reads"
	pageReads     family = "page reads"
	flowReads     family = "flow reads"
	pageWrites    family = "page writes"
	unlimited     family = "unlimited"
)

// perSecond are the limits of the OpenAPI file; each is the lower one of the two
// official texts (platform notes, 2.3).
var perSecond = map[family]int{
	sendFlow: 20, sendContent: 25, contactReads: 10, contactWrites: 10,
	systemReads: 50, pageReads: 100, flowReads: 10, pageWrites: 10,
}

type endpoint struct {
	family family
	do     func(*call) result
}

// endpoints is the complete list of the OpenAPI file (platform notes, 2.2).
var endpoints = map[string]endpoint{
	"GET /fb/page/getInfo":            {pageReads, (*call).pageInfo},
	"GET /fb/page/getTags":            {pageReads, (*call).pageTags},
	"POST /fb/page/createTag":         {pageWrites, (*call).createTag},
	"POST /fb/page/removeTag":         {pageWrites, (*call).deleteTag},
	"POST /fb/page/removeTagByName":   {pageWrites, (*call).deleteTag},
	"GET /fb/page/getCustomFields":    {pageReads, (*call).customFields},
	"POST /fb/page/createCustomField": {pageWrites, (*call).createCustomField},
	"GET /fb/page/getBotFields":       {pageReads, (*call).botFields},
	"POST /fb/page/createBotField":    {pageWrites, (*call).createBotField},
	"POST /fb/page/setBotField":       {pageWrites, (*call).setBotField},
	"POST /fb/page/setBotFieldByName": {pageWrites, (*call).setBotField},
	"POST /fb/page/setBotFields":      {pageWrites, (*call).setBotFields},
	"GET /fb/page/getFlows":           {flowReads, (*call).flows},
	"GET /fb/page/getGrowthTools":     {pageReads, (*call).growthTools},
	"GET /fb/page/getWidgets":         {pageReads, (*call).growthTools},
	"GET /fb/page/getOtnTopics":       {pageReads, (*call).otnTopics},

	"POST /fb/sending/sendContent":          {sendContent, (*call).sendContent},
	"POST /fb/sending/sendContentByUserRef": {sendContent, (*call).sendContentByUserRef},
	"POST /fb/sending/sendFlow":             {sendFlow, (*call).sendFlow},

	"GET /fb/subscriber/getInfo":                {contactReads, (*call).contactInfo},
	"GET /fb/subscriber/findByName":             {contactReads, (*call).findByName},
	"GET /fb/subscriber/getInfoByUserRef":       {unlimited, (*call).contactInfoByUserRef},
	"GET /fb/subscriber/findByCustomField":      {contactReads, (*call).findByCustomField},
	"GET /fb/subscriber/findBySystemField":      {systemReads, (*call).findBySystemField},
	"POST /fb/subscriber/addTag":                {contactWrites, (*call).addTag},
	"POST /fb/subscriber/addTagByName":          {contactWrites, (*call).addTag},
	"POST /fb/subscriber/removeTag":             {contactWrites, (*call).removeTag},
	"POST /fb/subscriber/removeTagByName":       {contactWrites, (*call).removeTag},
	"POST /fb/subscriber/setCustomField":        {contactWrites, (*call).setCustomField},
	"POST /fb/subscriber/setCustomFieldByName":  {contactWrites, (*call).setCustomField},
	"POST /fb/subscriber/setCustomFields":       {contactWrites, (*call).setCustomFields},
	"POST /fb/subscriber/verifyBySignedRequest": {contactWrites, (*call).verifyBySignedRequest},
	"POST /fb/subscriber/createSubscriber":      {contactWrites, (*call).createSubscriber},
	"POST /fb/subscriber/updateSubscriber":      {contactWrites, (*call).updateSubscriber},
}
