package mediafile

import "encoding/binary"

// silence is one second of Opus in Ogg (RFC 7845): the two header pages and a page
// with fifty empty 20 ms frames.
func silence() []byte {
	const frames, samples = 50, 960 // 960 samples at 48 kHz are 20 ms
	head := []byte("OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00")
	tags := []byte("OpusTags\x08\x00\x00\x00manychat\x00\x00\x00\x00")
	packets := make([][]byte, frames)
	for i := range packets {
		packets[i] = []byte{0xf8, 0xff, 0xfe} // CELT, 20 ms, silence
	}
	file := page(2, 0, 0, head)
	file = append(file, page(0, 0, 1, tags)...)
	return append(file, page(4, frames*samples, 2, packets...)...)
}

// page builds an Ogg page (RFC 3533) of packets shorter than 255 bytes each.
func page(flags byte, granule uint64, sequence uint32, packets ...[]byte) []byte {
	p := append([]byte("OggS\x00"), flags)
	p = binary.LittleEndian.AppendUint64(p, granule)
	p = binary.LittleEndian.AppendUint32(p, 1) // stream
	p = binary.LittleEndian.AppendUint32(p, sequence)
	p = append(p, 0, 0, 0, 0, byte(len(packets))) // checksum to come
	for _, packet := range packets {
		p = append(p, byte(len(packet)))
	}
	for _, packet := range packets {
		p = append(p, packet...)
	}
	binary.LittleEndian.PutUint32(p[22:], checksum(p))
	return p
}

// checksum is Ogg's CRC-32: polynomial 0x04c11db7, not reflected, no final inversion.
func checksum(data []byte) uint32 {
	var crc uint32
	for _, b := range data {
		crc ^= uint32(b) << 24
		for range 8 {
			if crc&0x80000000 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}
