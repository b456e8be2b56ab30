package api

import (
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

func (c *call) addTag() result    { return c.setTag("/fb/subscriber/addTagByName", true) }
func (c *call) removeTag() result { return c.setTag("/fb/subscriber/removeTagByName", false) }

func (c *call) setTag(byName string, on bool) result {
	return c.update(func(s *account.State) result {
		contact := c.subscriber(s)
		t, ok := c.tag(s, c.log.Path == byName)
		if ok && contact != nil {
			s.SetTag(contact, t.Name, on)
		}
		return success(nil)
	})
}

func (c *call) setCustomField() result {
	return c.update(func(s *account.State) result { return c.setFieldsTo(s, []in{c.in}) })
}

func (c *call) setCustomFields() result {
	records := c.records("fields")
	return c.update(func(s *account.State) result { return c.setFieldsTo(s, records) })
}

// setFieldsTo checks every record before it writes the first.
func (c *call) setFieldsTo(s *account.State, records []in) result {
	contact := c.subscriber(s)
	writes := make([]func(), 0, len(records))
	for _, p := range records {
		f, ok := c.field(s, &p)
		if !ok {
			break
		}
		v := c.parse(f.Type, p.value("field_value"))
		c.adopt(&p)
		writes = append(writes, func() { s.SetValue(contact, f.Name, v) })
	}
	if c.failed() {
		return *c.problem
	}
	for _, write := range writes {
		write()
	}
	return success(nil)
}

func (c *call) field(s *account.State, p *in) (account.Field, bool) {
	var f account.Field
	var ok bool
	if p.has("field_name") {
		f, ok = s.FieldFold(p.text("field_name"))
	} else {
		f, ok = s.FieldByID(p.id("field_id"))
	}
	c.adopt(p)
	if !ok {
		c.stop(invalid("field with same name not found"))
	}
	return f, ok
}

// verifyBySignedRequest takes any signature: the emulator shares no secret with
// Meta that it could check one with.
func (c *call) verifyBySignedRequest() result {
	c.text("signed_request")
	return c.update(func(s *account.State) result {
		c.subscriber(s)
		return success(nil)
	})
}

func (c *call) createSubscriber() result {
	c.optIns()
	if !c.has("phone") && !c.has("whatsapp_phone") && !c.has("email") {
		c.stop(invalid("phone, whatsapp_phone or email is required"))
	}
	contact := phone.Contact{Channel: manychat.Messenger}
	if contact.WhatsAppPhone = c.optional("whatsapp_phone"); contact.WhatsAppPhone != "" {
		contact.Channel = manychat.WhatsApp
	}
	c.describe(&contact)
	return c.update(func(s *account.State) result {
		added, err := s.AddContact(contact)
		if err != nil {
			return invalid(err.Error())
		}
		return success(c.profile(s, added))
	})
}

func (c *call) updateSubscriber() result {
	c.optIns()
	return c.update(func(s *account.State) result {
		contact := c.subscriber(s)
		if contact == nil {
			return *c.problem
		}
		edited := account.Copy(contact.Contact)
		c.describe(&edited)
		if !c.failed() {
			contact.Contact = edited
			s.Touch(contact.ID)
		}
		return success(c.profile(s, contact))
	})
}

// optIns checks what a phone and an e-mail address need beside them (2.2).
func (c *call) optIns() {
	switch {
	case c.has("phone") && !c.has("has_opt_in_sms"):
		c.stop(invalid("has_opt_in_sms is required with phone"))
	case c.has("email") && !c.has("has_opt_in_email"):
		c.stop(invalid("has_opt_in_email is required with email"))
	case c.flag("has_opt_in_sms") && !c.has("consent_phrase"):
		c.stop(invalid("consent_phrase is required with has_opt_in_sms"))
	}
}

// describe takes over what the call says about a contact.
func (c *call) describe(contact *phone.Contact) {
	for key, to := range map[string]*string{
		"first_name": &contact.FirstName, "last_name": &contact.LastName, "gender": &contact.Gender,
		"phone": &contact.Phone, "email": &contact.Email,
	} {
		if c.has(key) {
			*to = c.optional(key)
		}
	}
	if c.has("has_opt_in_sms") {
		contact.OptInSMS = c.flag("has_opt_in_sms")
	}
	if c.has("has_opt_in_email") {
		contact.OptInEmail = c.flag("has_opt_in_email")
	}
}
