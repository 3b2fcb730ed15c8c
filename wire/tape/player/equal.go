package player

import (
	"rpcx/wire"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// An unsure is the entry of a response from which the live response differs.
type unsure struct {
	entry int32
	extra *Found // the live response, as an extra message
}

// answer returns the entry for a response to the request at entry own. If own has no further response, answer returns
// None and records msg as extra.
func (k *pairing) answer(own int32, msg []byte) int32 {
	at := k.stands(own)
	i := k.answered(own, at, msg)
	if i == transcript.None {
		i = k.handAnswer(msg)
	}
	if i == transcript.None {
		i = k.handAwaited(own, msg)
	}
	if i == transcript.None {
		extra := k.asExtra(k.p.track.Method(int(own)), msg)
		if request := k.p.track.Entry(own); request.Answer == transcript.None {
			extra.Line = int(request.Line) // responses to other requests may arrive before this one
		}
		k.addExtra(extra)
		return i
	}
	k.last = i
	return i
}

// handAwaited returns the next awaited entry if that is a handwritten condition without "re", because msg may have been meant for it.
// Otherwise it returns None. msg is a response to own, which has no recorded response.
func (k *pairing) handAwaited(own int32, msg []byte) int32 {
	i := k.awaited()
	if i == transcript.None || i < own || k.p.track.Entry(own).Answer != transcript.None {
		return transcript.None
	}
	line := k.p.track.HandwrittenLine(int(i))
	if line == nil || line.Msg != nil || line.Re != "" {
		return transcript.None
	}
	k.keep(i, msg)
	return i
}

// answered returns the entry for msg among the recorded responses to own. A nearby response that equals msg is preferred to the
// first one that has not arrived.
func (k *pairing) answered(own, at int32, msg []byte) int32 {
	i := k.p.unanswered(at)
	var found []match.Difference
	if i != transcript.None {
		if found, _ = k.p.differences(i, msg); len(found) == 0 {
			return i
		}
	}
	if k.unsure != nil && k.p.track.Entry(k.unsure.entry).Own == at && k.may(k.unsure.entry, msg) {
		i = k.unsure.entry
		delete(k.found, i)
		k.p.unsee(i)
		k.addExtra(k.unsure.extra)
		k.unsure = nil
		return i
	}
	if i == transcript.None {
		return i
	}
	if later := k.laterAnswer(at, i, msg); later != transcript.None {
		return later
	}
	if k.p.track.Entry(at).Answer == i {
		if traded := k.trade(own, msg); traded != transcript.None {
			return traded
		}
	}
	k.differs(i, found)
	k.unsure = &unsure{i, k.asExtra(k.p.track.Method(int(own)), msg)}
	return i
}

// may reports whether msg has no difference from entry i, as far as that can be determined.
func (k *pairing) may(i int32, msg []byte) bool {
	found, _ := k.p.differences(i, msg)
	return len(found) == 0
}

// farAnswer is how many responses to one request are searched before the position is remembered.
const farAnswer = 16

// unanswered returns the first recorded response to own that has not arrived, or None.
func (p *play) unanswered(own int32) int32 {
	i, known := p.answers[own]
	if !known {
		i = p.track.Entry(own).Answer
	}
	steps := 0
	for ; i != transcript.None && p.seen(i) > 0; steps++ {
		i = p.track.Entry(i).More
	}
	switch {
	case i == transcript.None:
		delete(p.answers, own)
	case steps >= farAnswer || known && steps > 0:
		p.answers[own] = i
	}
	return i
}

// laterAnswer returns a nearby response to own that follows entry i and equals msg, or None. Responses before it are reported as
// missing at the end.
func (k *pairing) laterAnswer(own, i int32, msg []byte) int32 {
	for steps := range 4 * farAnswer {
		if i = k.p.track.Entry(i).More; i == transcript.None {
			break
		}
		if k.p.seen(i) > 0 || !k.may(i, msg) {
			continue
		}
		if steps >= 2*farAnswer {
			k.p.answers[own] = i
		}
		return i
	}
	return transcript.None
}

// equalNear is the maximum distance, in entries, to an equal request.
const equalNear = 1000

// stands returns the entry for which the local request own stands. It is own itself, or an equal request if the responses to the two
// arrived in another order than recorded.
func (k *pairing) stands(own int32) int32 {
	if other, ok := k.stand[own]; ok {
		return other
	}
	return own
}

// trade looks for an equal request without a response whose recorded response is msg. If it finds one, each of the two requests
// stands for the other from then on. It returns the entry for the response, or None.
func (k *pairing) trade(own int32, msg []byte) int32 {
	at := k.stands(own)
	track := k.p.track
	mine := track.Entry(at)
	for j := max(at-equalNear, 0); j < min(at+equalNear, int32(track.Len())); j++ {
		e := track.Entry(j)
		if j == at || e.Kind != wire.Request || e.Dir != mine.Dir || e.Hash != mine.Hash || e.Method != mine.Method || k.p.seen(j) == 0 {
			continue
		}
		if e.Answer == transcript.None || k.p.seen(e.Answer) > 0 || !k.may(e.Answer, msg) {
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
