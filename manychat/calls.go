package manychat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// call is one request to the API before it is sent.
type call struct {
	name, path   string
	family       family
	subscriberID string
	object       string // the field, tag or flow that the caller named
	value        any    // the field value, for redaction
	payload      any    // the body of a command; nil: the call is a read
}

// The bodies of the commands, keys in the order of ManyChat's documents. The subscriber
// id is a string in all of them: it may exceed 2^53, and ManyChat takes both.
type (
	fieldPayload struct {
		SubscriberID string `json:"subscriber_id"`
		FieldName    string `json:"field_name"`
		FieldValue   any    `json:"field_value"`
	}
	flowPayload struct {
		SubscriberID string `json:"subscriber_id"`
		FlowNS       string `json:"flow_ns"`
	}
	tagPayload struct {
		SubscriberID string `json:"subscriber_id"`
		TagName      string `json:"tag_name"`
	}
)

// SetCustomFieldByName writes a custom field of the contact. ManyChat does not tell
// the case of field names apart. The value is what the field's type wants: a string
// for text, a number, a bool, YYYY-MM-DD for a date, RFC 3339 with the contact's offset
// for a date with time; nil clears the field.
func (c *Client) SetCustomFieldByName(ctx context.Context, subscriberID string, field string, value any) error {
	_, err := c.do(ctx, call{
		name: "setCustomFieldByName", path: "/fb/subscriber/setCustomFieldByName", family: writes,
		subscriberID: subscriberID, object: field, value: value,
		payload: fieldPayload{subscriberID, field, value},
	})
	return err
}

// SendFlow starts a flow for the contact. ManyChat answers when the flow starts;
// nothing tells when it has ended or what of it arrived. ManyChat allows 100 an hour
// for one contact, which the client does not count.
func (c *Client) SendFlow(ctx context.Context, subscriberID string, flowNS string) error {
	_, err := c.do(ctx, call{
		name: "sendFlow", path: "/fb/sending/sendFlow", family: flows,
		subscriberID: subscriberID, object: flowNS,
		payload: flowPayload{subscriberID, flowNS},
	})
	return err
}

// AddTagByName tags the contact. The tag must exist in the account.
func (c *Client) AddTagByName(ctx context.Context, subscriberID string, tag string) error {
	_, err := c.do(ctx, call{
		name: "addTagByName", path: "/fb/subscriber/addTagByName", family: writes,
		subscriberID: subscriberID, object: tag,
		payload: tagPayload{subscriberID, tag},
	})
	return err
}

// RemoveTagByName takes a tag from the contact.
func (c *Client) RemoveTagByName(ctx context.Context, subscriberID string, tag string) error {
	_, err := c.do(ctx, call{
		name: "removeTagByName", path: "/fb/subscriber/removeTagByName", family: writes,
		subscriberID: subscriberID, object: tag,
		payload: tagPayload{subscriberID, tag},
	})
	return err
}

// GetInfo reads the contact. An answer about another contact is none: it is an error of
// [KindServer].
func (c *Client) GetInfo(ctx context.Context, subscriberID string) (Subscriber, error) {
	cl := call{
		name: "getInfo", path: "/fb/subscriber/getInfo", family: reads,
		subscriberID: subscriberID,
	}
	data, err := c.do(ctx, cl)
	if err != nil {
		return Subscriber{}, err
	}
	s, ok := decodeSubscriber(data)
	if !ok {
		return Subscriber{}, c.fail(cl, Error{Kind: KindServer, Status: http.StatusOK, Message: "the answer holds no contact"})
	}
	if string(s.ID) != subscriberID {
		return Subscriber{}, c.fail(cl, Error{Kind: KindServer, Status: http.StatusOK, Message: "the answer is about another contact"})
	}
	return s, nil
}

// request builds the HTTP request without its headers. Its error quotes nothing but
// what encoding/json says of the value's type.
func (cl call) request(ctx context.Context, baseURL string) (*http.Request, error) {
	if cl.subscriberID == "" {
		return nil, errors.New("the subscriber id is empty")
	}
	if cl.payload == nil {
		query := url.Values{"subscriber_id": {cl.subscriberID}}
		return http.NewRequestWithContext(ctx, http.MethodGet, baseURL+cl.path+"?"+query.Encode(), nil)
	}
	if cl.object == "" {
		return nil, errors.New("the name of the field, tag or flow is empty")
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(cl.payload); err != nil {
		return nil, err
	}
	body.Truncate(body.Len() - 1) // the newline that Encode ends with
	return http.NewRequestWithContext(ctx, http.MethodPost, baseURL+cl.path, &body)
}

// valueText is the field value as an answer of ManyChat could quote it. A boolean or
// no value tells nothing about anybody.
func (cl call) valueText() string {
	switch cl.value.(type) {
	case nil, bool:
		return ""
	}
	return fmt.Sprint(cl.value)
}
