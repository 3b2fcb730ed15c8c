package player

import (
	"rpcx/wire"
	"rpcx/wire/tape/transcript"
)

// equalNear bounds, in entries, how far from a request an equal one is looked
// for.
const equalNear = 1000

// stands returns the entry that our request own stands for: an equal request,
// if their answers came in another order than recorded, else own.
func (k *pairing) stands(own int32) int32 {
	if other, ok := k.stand[own]; ok {
		return other
	}
	return own
}

// trade looks for a request that equals own, that was answered by msg on the
// tape, and that has no answer yet. From then on own stands for that one, and
// what stood for it stands for what own stood for. It returns the answer's
// entry; None if there is none.
func (k *pairing) trade(own int32, msg []byte) int32 {
	at := k.stands(own)
	track := k.p.track
	mine := track.Entry(at)
	for j := max(at-equalNear, 0); j < min(at+equalNear, int32(track.Len())); j++ {
		e := track.Entry(j)
		if j == at || e.Kind != wire.Request || e.Dir != mine.Dir || e.Hash != mine.Hash || e.Method != mine.Method || k.p.seen(j) == 0 {
			continue
		}
		if e.Answer == transcript.None || k.p.seen(e.Answer) > 0 || len(k.differences(e.Answer, msg)) > 0 {
			continue
		}
		other := j
		for live, entry := range k.stand {
			if entry == j {
				other = live
			}
		}
		k.stand[own], k.stand[other] = j, at
		return e.Answer
	}
	return transcript.None
}
