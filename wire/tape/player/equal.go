package player

import (
	"rpcx/wire"
	"rpcx/wire/tape/transcript"
)

// equalNear is how far from a request, in entries, another one that equals it is
// looked for.
const equalNear = 1000

// stands returns the entry that our request own stands for: another one that equals it
// where their answers came in another order than was recorded.
func (k *pairing) stands(own int32) int32 {
	if other, ok := k.stand[own]; ok {
		return other
	}
	return own
}

// trade looks for a request that equals own, which is recorded to be answered by msg
// and is not answered yet. own stands for that one from then on, and whatever stood
// for it for what own stood for. It returns the answer's entry; None: there is none.
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
