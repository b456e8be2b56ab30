// Package body reads what ManyChat posts: the body of a message
// (docs/spec/02-inbound.md, "Request body") and a Full Contact Data object. It does no
// I/O and keeps nothing; a refusal names a key and never repeats a value.
//
// # A body that is not JSON
//
// ManyChat pastes variables into a hand-written body as they are, so a quote or a line
// break in what a contact wrote leaves something that is not JSON. A contact must not
// be lost to that, and must not gain by it: nobody may write their way into another
// contact's conversation. The body alone does not say where a value ends, so [Message]
// does not guess one end; it considers every reading.
//
// A key can stand where `"key"` and a colon follow the body's opening brace or a comma,
// for the nine keys of the route. A reading picks some of these places so that
//
//   - the first is the one behind the opening brace;
//   - no key occurs twice, and subscriber_id and text do occur;
//   - a value runs to the comma before the next picked place, or to the end of the
//     object (white space, one closing brace and one comma before it, each if it is
//     there);
//   - subscriber_id, ai_token and channel, which no contact has a say in, have values
//     without a quote inside, in quotes or bare, and the very next place is picked too.
//
// Every other value may be a contact's own words: also the names, and the offering and
// the language where a flow asked for them. These values may hold anything, further
// places included, with and without quotes around them. So whatever the template looks
// like, the reading that its author meant is among the readings.
//
// The reading that is taken has the most keys, which makes every value run to the last
// quote before the next key that can stand there; of several, the one that leaves the
// fewest quotes open; of those, the one whose values end first. (Before all that it has
// the fewest languages with quotes, and offerings and courses with both quotes and
// braces: those are pieces of JSON in a text.) It is taken only if subscriber_id,
// ai_token, channel, offering and course, each for itself, mean the same in all readings
// that have the key; such a piece of JSON does not count. Otherwise the body is refused.
// Hence the words of a contact cannot change what the template says of these. They can
// add a key that the template does not have, as they can in a body that is JSON: the
// bytes are those of a template that has it. ManyChat's Full Contact Data and its switch
// Encode to JSON leave no room for that either.
//
// What a value means is decided for each one alone. A value that is a JSON string is
// read as one, escapes and all (Encode to JSON is on for this variable, or nothing in it
// needed escaping); so is a JSON string inside quotes that were left around it by hand.
// Any other value is taken as it is, without the quotes around it: a backslash is a
// backslash. null is null.
package body
