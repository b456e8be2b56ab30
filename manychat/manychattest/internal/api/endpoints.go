package api

import (
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/operation"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
)

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
	do     func(*operation.Call) wire.Result
}

// endpoints is the complete list of the OpenAPI file (platform notes, 2.2).
var endpoints = map[string]endpoint{
	"GET /fb/page/getInfo":            {pageReads, (*operation.Call).PageInfo},
	"GET /fb/page/getTags":            {pageReads, (*operation.Call).PageTags},
	"POST /fb/page/createTag":         {pageWrites, (*operation.Call).CreateTag},
	"POST /fb/page/removeTag":         {pageWrites, (*operation.Call).DeleteTag},
	"POST /fb/page/removeTagByName":   {pageWrites, (*operation.Call).DeleteTag},
	"GET /fb/page/getCustomFields":    {pageReads, (*operation.Call).CustomFields},
	"POST /fb/page/createCustomField": {pageWrites, (*operation.Call).CreateCustomField},
	"GET /fb/page/getBotFields":       {pageReads, (*operation.Call).BotFields},
	"POST /fb/page/createBotField":    {pageWrites, (*operation.Call).CreateBotField},
	"POST /fb/page/setBotField":       {pageWrites, (*operation.Call).SetBotField},
	"POST /fb/page/setBotFieldByName": {pageWrites, (*operation.Call).SetBotField},
	"POST /fb/page/setBotFields":      {pageWrites, (*operation.Call).SetBotFields},
	"GET /fb/page/getFlows":           {flowReads, (*operation.Call).FlowList},
	"GET /fb/page/getGrowthTools":     {pageReads, (*operation.Call).GrowthTools},
	"GET /fb/page/getWidgets":         {pageReads, (*operation.Call).GrowthTools},
	"GET /fb/page/getOtnTopics":       {pageReads, (*operation.Call).OtnTopics},

	"POST /fb/sending/sendContent":          {sendContent, (*operation.Call).SendContent},
	"POST /fb/sending/sendContentByUserRef": {sendContent, (*operation.Call).SendContentByUserRef},
	"POST /fb/sending/sendFlow":             {sendFlow, (*operation.Call).SendFlow},

	"GET /fb/subscriber/getInfo":                {contactReads, (*operation.Call).ContactInfo},
	"GET /fb/subscriber/findByName":             {contactReads, (*operation.Call).FindByName},
	"GET /fb/subscriber/getInfoByUserRef":       {unlimited, (*operation.Call).ContactInfoByUserRef},
	"GET /fb/subscriber/findByCustomField":      {contactReads, (*operation.Call).FindByCustomField},
	"GET /fb/subscriber/findBySystemField":      {systemReads, (*operation.Call).FindBySystemField},
	"POST /fb/subscriber/addTag":                {contactWrites, (*operation.Call).AddTag},
	"POST /fb/subscriber/addTagByName":          {contactWrites, (*operation.Call).AddTag},
	"POST /fb/subscriber/removeTag":             {contactWrites, (*operation.Call).RemoveTag},
	"POST /fb/subscriber/removeTagByName":       {contactWrites, (*operation.Call).RemoveTag},
	"POST /fb/subscriber/setCustomField":        {contactWrites, (*operation.Call).SetCustomField},
	"POST /fb/subscriber/setCustomFieldByName":  {contactWrites, (*operation.Call).SetCustomField},
	"POST /fb/subscriber/setCustomFields":       {contactWrites, (*operation.Call).SetCustomFields},
	"POST /fb/subscriber/verifyBySignedRequest": {contactWrites, (*operation.Call).VerifyBySignedRequest},
	"POST /fb/subscriber/createSubscriber":      {contactWrites, (*operation.Call).CreateSubscriber},
	"POST /fb/subscriber/updateSubscriber":      {contactWrites, (*operation.Call).UpdateSubscriber},
}
