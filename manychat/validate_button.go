package manychat

import "reflect"

func (v *validator) buttons(path string, buttons []Button) {
	v.atMost(path, len(buttons), v.caps.ButtonsPerText)
	for i, b := range buttons {
		v.button(at(path, i), b)
	}
}

func (v *validator) button(path string, b Button) {
	v.text(path+".caption", b.Caption, v.caps.CaptionUnits)
	if !v.caps.Offers(b.Type) {
		v.addf(path+".type", "is not a button type of this channel")
		return
	}
	switch b.Type {
	case URLType:
		v.https(path+".url", b.URL)
		v.webviewSize(path+".webview_size", b.WebviewSize)
	case FlowType, NodeType:
		v.required(path+".target", b.Target)
	case CallType:
		v.required(path+".phone", b.Phone)
	case BuyType:
		v.purchase(path, b)
	case CallbackType:
		v.endpoint(path, b.URL, b.Method)
	}
	if len(b.Actions) > 0 && !carriesActions(b.Type) {
		v.addf(path+".actions", "must be left out of %s buttons", b.Type)
		return
	}
	v.actions(path+".actions", b.Actions)
}

func carriesActions(t ButtonType) bool { return t == URLType || t == FlowType || t == NodeType }

func (v *validator) webviewSize(path, size string) {
	switch {
	case size == "":
	case !v.caps.WebviewSizes:
		v.addf(path, "must be left out on this channel")
	default:
		v.oneOf(path, size, WebviewFull, WebviewMedium, WebviewCompact)
	}
}

func (v *validator) purchase(path string, b Button) {
	if b.Customer == nil {
		v.addf(path+".customer", "is missing")
	}
	if b.Product == nil {
		v.addf(path+".product", "is missing")
		return
	}
	v.required(path+".product.label", b.Product.Label)
	if b.Product.Cost <= 0 {
		v.addf(path+".product.cost", "must be more than 0 cents")
	}
}

func (v *validator) quickReplies(path string, replies []QuickReply) {
	if v.caps.QuickReplies == 0 {
		if len(replies) > 0 {
			v.addf(path, "must be left out on this channel")
		}
		return
	}
	v.atMost(path, len(replies), v.caps.QuickReplies)
	for i, q := range replies {
		v.quickReply(at(path, i), q)
	}
}

func (v *validator) quickReply(path string, q QuickReply) {
	v.text(path+".caption", q.Caption, v.caps.CaptionUnits)
	switch {
	case (q.Type == FlowType || q.Type == NodeType) && v.caps.Offers(q.Type):
		v.required(path+".target", q.Target)
	case q.Type == CallbackType && v.caps.Offers(q.Type):
		v.endpoint(path, q.URL, q.Method)
	default:
		v.addf(path+".type", "is not a quick reply type of this channel")
	}
}

func (v *validator) actions(path string, actions []Action) {
	v.atMost(path, len(actions), v.caps.Actions)
	for i, a := range actions {
		v.action(at(path, i), a)
	}
}

func (v *validator) action(path string, a Action) {
	switch a.Action {
	case AddTagAction, RemoveTagAction:
		v.required(path+".tag_name", a.TagName)
	case SetFieldAction:
		v.required(path+".field_name", a.FieldName)
		if !isFieldValue(a.Value) {
			v.addf(path+".value", "must be a string, a number or a boolean")
		}
	case UnsetFieldAction:
		v.required(path+".field_name", a.FieldName)
	default:
		v.addf(path+".action", "must be one of %s, %s, %s, %s",
			AddTagAction, RemoveTagAction, SetFieldAction, UnsetFieldAction)
	}
}

// isFieldValue reports whether value is one that a custom field can hold; which of
// them the field wants is known to the account alone.
func isFieldValue(value any) bool {
	switch reflect.ValueOf(value).Kind() {
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}
