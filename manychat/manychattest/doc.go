// Package manychattest is ManyChat, emulated: for anyone who writes a server that
// ManyChat calls, or a client of its public API, and wants to test it without an
// account, a phone or a network.
//
// # A tour
//
// A [Server] is one ManyChat account. It plays both of ManyChat's parts:
//
//   - Towards your server it is the caller. [Server.Send] is a contact writing. It
//     makes the request of the entry flow, or of the external_message_callback that
//     an earlier answer armed, with variables filled in from the contact. It hangs
//     up after ten seconds, judges the answer as ManyChat would, all or nothing, and
//     puts what is left on the contact's phone.
//   - Towards your API client it is https://api.manychat.com: an http.Handler with
//     the 34 operations of the public API, their bodies, codes and rate limits.
//     Flows that a client triggers play in the background, step by step.
//
// What a contact would see is in [Server.Chat], in the order of their screen. What
// your client did is in [Server.Calls]. What became of one message is in the
// [Exchange] that Send returns: what was sent, what came back, what was shown, and
// under Warnings everything that ManyChat drops without telling.
//
// # Setting up
//
//	mc, err := manychattest.New(manychattest.Config{
//		Channel: manychat.WhatsApp,
//		Token:   "100000000000001:0123456789abcdef0123456789abcdef", // invented
//		Entry: manychattest.Entry{
//			URL:    "https://agent.example.test/message",
//			Header: map[string]string{"Authorization": "Bearer a-shared-secret"},
//			Body:   `{"subscriber_id":{{user_id}},"text":{{last_input_text}}}`,
//			EncodeJSON: true,
//		},
//		Hosts: map[string]string{"agent.example.test": "http://127.0.0.1:3000"},
//	})
//
// Define what the account has with [Server.DefineField], [Server.DefineTag] and
// [Server.DefineFlow], then add people with [Server.AddContact]. Nothing is created
// by being named: as on the real thing, a tag or a field has to exist.
//
// Serve the API with httptest.NewServer(mc), or use no socket at all:
//
//	client, err := manychat.NewClient(manychat.ClientConfig{
//		Token:     "100000000000001:0123456789abcdef0123456789abcdef",
//		Transport: manychattest.Transport(mc), // any http.Client takes it too
//	})
//
// # Waiting, and time
//
// Flows are over when [Server.WaitIdle] returns. The emulator waits with plain
// timers and keeps no goroutine while nothing happens, so a whole conversation with
// its delays, timeouts and 24-hour windows runs in no time inside a testing/synctest
// bubble. A socket hangs there: join both directions with [Transport]. Outside of a
// bubble, Config.Now moves the clock that instants are recorded and compared with,
// not the timers.
//
// # When things go wrong
//
// [Server.SetFaults] makes the account as bad as the real one has been seen to be:
// slow successes, lost answers, errors that lie, renamed fields, lost and doubled
// messages. Package fault lists them.
//
// # What is not known
//
// ManyChat is a closed product. The emulator follows what is documented and what was
// observed on live accounts; comments cite the section of
// docs/reference/manychat-platform.md ("platform notes") in this repository. Where
// nobody knows, [Settings] decides, and its zero value is the reading under which a
// server that works here works there. Some choices to know about:
//
//   - external_message_callback fires on Messenger only, until Settings.Callback is On.
//   - Of an inline answer on WhatsApp, the first message arrives and the rest does not.
//   - An inline answer whose content.type is not that of the contact is refused.
//   - Rate limits count per family of endpoints and whole account.
//   - The text limit counts UTF-16 code units.
//   - A redirect is not followed and counts as a failure.
//   - Where the text of an error was never observed, the emulator's own is generic
//     ("Validation error", with the reason in details). Do not test for such a text.
//
// Not emulated are flows with branches (node buttons lead nowhere), payments,
// growth tools, the ManyChat inbox, and the signature check of
// verifyBySignedRequest.
//
// # Keeping a phone
//
// [Server.Snapshot] and [Server.Restore] carry contacts and chats across restarts,
// and Config.OnChange says when it is time to take one. [Server.Subscribe] follows
// everything live.
package manychattest
