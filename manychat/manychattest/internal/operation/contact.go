package operation

import (
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// AddTag is POST /fb/subscriber/addTag and POST /fb/subscriber/addTagByName.
func (c *Call) AddTag() wire.Result { return c.setTag("/fb/subscriber/addTagByName", true) }

// RemoveTag is POST /fb/subscriber/removeTag and POST /fb/subscriber/removeTagByName.
func (c *Call) RemoveTag() wire.Result { return c.setTag("/fb/subscriber/removeTagByName", false) }

func (c *Call) setTag(byName string, on bool) wire.Result {
	return c.update(func(s *account.State) wire.Result {
		contact := c.subscriber(s)
		t, ok := c.tag(s, c.Path == byName)
		if ok && contact != nil {
			s.SetTag(contact, t.Name, on)
		}
		return wire.Success(nil)
	})
}

// SetCustomField is POST /fb/subscriber/setCustomField and POST /fb/subscriber/setCustomFieldByName.
func (c *Call) SetCustomField() wire.Result {
	return c.update(func(s *account.State) wire.Result { return c.setFieldsTo(s, []wire.In{c.In}) })
}

// SetCustomFields is POST /fb/subscriber/setCustomFields.
func (c *Call) SetCustomFields() wire.Result {
	records := c.Records("fields")
	return c.update(func(s *account.State) wire.Result { return c.setFieldsTo(s, records) })
}

// setFieldsTo checks every record before it writes the first.
func (c *Call) setFieldsTo(s *account.State, records []wire.In) wire.Result {
	contact := c.subscriber(s)
	writes := make([]func(), 0, len(records))
	for _, p := range records {
		f, ok := c.field(s, &p)
		if !ok {
			break
		}
		v := c.parse(f.Type, p.Value("field_value"))
		c.adopt(&p)
		writes = append(writes, func() { s.SetValue(contact, f.Name, v) })
	}
	if c.Failed() {
		return *c.Problem
	}
	for _, write := range writes {
		write()
	}
	return wire.Success(nil)
}

func (c *Call) field(s *account.State, p *wire.In) (account.Field, bool) {
	var f account.Field
	var ok bool
	if p.Has("field_name") {
		f, ok = s.FieldFold(p.Text("field_name"))
	} else {
		f, ok = s.FieldByID(p.ID("field_id"))
	}
	c.adopt(p)
	if !ok {
		c.Stop(wire.Invalid("field with same name not found"))
	}
	return f, ok
}

// VerifyBySignedRequest takes any signature: the emulator shares no secret with
// Meta that it could check one with.
func (c *Call) VerifyBySignedRequest() wire.Result {
	c.Text("signed_request")
	return c.update(func(s *account.State) wire.Result {
		c.subscriber(s)
		return wire.Success(nil)
	})
}

// CreateSubscriber is POST /fb/subscriber/createSubscriber.
func (c *Call) CreateSubscriber() wire.Result {
	c.optIns()
	if !c.Has("phone") && !c.Has("whatsapp_phone") && !c.Has("email") {
		c.Stop(wire.Invalid("phone, whatsapp_phone or email is required"))
	}
	contact := phone.Contact{Channel: manychat.Messenger}
	if contact.WhatsAppPhone = c.Optional("whatsapp_phone"); contact.WhatsAppPhone != "" {
		contact.Channel = manychat.WhatsApp
	}
	c.describe(&contact)
	return c.update(func(s *account.State) wire.Result {
		added, err := s.AddContact(contact)
		if err != nil {
			return wire.Invalid(err.Error())
		}
		return wire.Success(c.profile(s, added))
	})
}

// UpdateSubscriber is POST /fb/subscriber/updateSubscriber.
func (c *Call) UpdateSubscriber() wire.Result {
	c.optIns()
	return c.update(func(s *account.State) wire.Result {
		contact := c.subscriber(s)
		if contact == nil {
			return *c.Problem
		}
		edited := account.Copy(contact.Contact)
		c.describe(&edited)
		if !c.Failed() {
			contact.Contact = edited
			s.Touch(contact.ID)
		}
		return wire.Success(c.profile(s, contact))
	})
}

// optIns checks what a phone and an e-mail address need beside them (2.2).
func (c *Call) optIns() {
	switch {
	case c.Has("phone") && !c.Has("has_opt_in_sms"):
		c.Stop(wire.Invalid("has_opt_in_sms is required with phone"))
	case c.Has("email") && !c.Has("has_opt_in_email"):
		c.Stop(wire.Invalid("has_opt_in_email is required with email"))
	case c.Flag("has_opt_in_sms") && !c.Has("consent_phrase"):
		c.Stop(wire.Invalid("consent_phrase is required with has_opt_in_sms"))
	}
}

// describe takes over what the call says about a contact.
func (c *Call) describe(contact *phone.Contact) {
	for key, to := range map[string]*string{
		"first_name": &contact.FirstName, "last_name": &contact.LastName, "gender": &contact.Gender,
		"phone": &contact.Phone, "email": &contact.Email,
	} {
		if c.Has(key) {
			*to = c.Optional(key)
		}
	}
	if c.Has("has_opt_in_sms") {
		contact.OptInSMS = c.Flag("has_opt_in_sms")
	}
	if c.Has("has_opt_in_email") {
		contact.OptInEmail = c.Flag("has_opt_in_email")
	}
}
