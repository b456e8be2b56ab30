package webhook

// Signature signs as [Client.Post] does.
func Signature(secret, id, at string, body []byte) (string, error) {
	key, err := keyOf(secret)
	return signature(key, id, at, body), err
}
