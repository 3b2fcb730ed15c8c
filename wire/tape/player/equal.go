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
	entries, track := k.p.track.Entries, k.p.track
	mine := &entries[at]
	for j := max(at-equalNear, 0); j < min(at+equalNear, int32(len(entries))); j++ {
		e := &entries[j]
		if j == at || e.Kind != wire.Request || e.Dir != mine.Dir || e.Hash != mine.Hash || k.p.seen[j] == 0 || track.Method(int(j)) != track.Method(int(at)) {
			continue
		}
		answers := k.p.index.answers(j)
		if len(answers) == 0 || k.p.seen[answers[0]] > 0 || len(k.differences(answers[0], msg)) > 0 {
			continue
		}
		other := j
		for live, entry := range k.stand {
			if entry == j {
				other = live
			}
		}
		k.stand[own], k.stand[other] = j, at
		return answers[0]
	}
	return transcript.None
}
