// Package manychat speaks ManyChat's two dialects: the Dynamic Block v2 JSON that a
// server answers with, and the public API that a server calls. It is for anybody who
// writes such a server in Go; it knows nothing of agents, models or databases.
//
// # Answering: Dynamic Block v2
//
// ManyChat calls a server from a Dynamic Block or an external message callback and
// renders the [Response] it gets, within 10 seconds or not at all. [NewResponse] builds
// one, out of [Text], [Image], [Cards] and their like, and [Response.Validate] finds
// everything that ManyChat would refuse or lose on the contact's channel:
//
//	r := manychat.NewResponse(manychat.WhatsApp, manychat.Text("We open at nine."))
//	if err := r.Validate(manychat.WhatsApp); err != nil { ... }
//
// What a channel can show is data: [CapabilitiesOf] returns its row. Lengths are counted
// in UTF-16 code units by [UTF16Len], the strictest of the ways ManyChat may count.
//
// # Calling: the public API
//
// A [Client] writes a custom field, starts a flow, adds and removes a tag and reads a
// contact. It keeps to ManyChat's rate limits, where calls have a [Class] each and several
// processes may share them by a [Lease], makes no retries and says in a typed
// [*Error] what became of a call that failed: its [Kind], whether trying again makes
// sense ([Error.Retryable]) and whether ManyChat may have acted all the same
// ([Error.OutcomeUnknown]). A success means that ManyChat accepted the request, not
// that the contact saw anything.
//
// There is no method for a bot field, which the whole account shares and which would
// show one contact's text to another, and none for sendContent, which cannot leave
// WhatsApp's 24-hour window: write the text to a custom field of the contact and start
// a flow that sends it.
//
// # Where the facts come from
//
// Limits, types, codes and rates are those of ManyChat's public documents (the Dynamic
// Block documents, the OpenAPI file, the help articles) and of what others have seen
// and published, collected on 2026-11-30. Where two sources differ the stricter figure
// is used. Nothing was tried on a live account for this package. Three things that
// ManyChat does not say: whether external_message_callback fires outside Messenger,
// whether an empty messages array is accepted, and in which units text is counted.
//
// The examples show each part at work: [Response.Validate], [NewResponse], [Client] and
// [Error]. Package manychattest, beside this one, emulates ManyChat for tests.
package manychat
