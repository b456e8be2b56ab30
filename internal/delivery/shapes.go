package delivery

import (
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Shapes are the shapes of every channel, so that a request can name its own.
type Shapes struct {
	byChannel map[contact.Channel]Shape
}

// ShapesOf returns the shapes of all channels; see [ShapeOf].
func ShapesOf(join bool) (Shapes, error) {
	shapes := Shapes{byChannel: map[contact.Channel]Shape{}}
	for _, c := range manychat.Channels() {
		shape, err := ShapeOf(contact.Channel(c), join)
		if err != nil {
			return Shapes{}, fmt.Errorf("shapes of the channels: %w", err)
		}
		shapes.byChannel[contact.Channel(c)] = shape
	}
	return shapes, nil
}

// For returns the shape of a channel. A name that is none gets WhatsApp's shape, and a
// response of it says WhatsApp: that is what CHANNEL is when nothing sets it, so the
// contact is answered.
func (s Shapes) For(c contact.Channel) Shape {
	if shape, ok := s.byChannel[c]; ok {
		return shape
	}
	return s.byChannel[contact.WhatsApp]
}
