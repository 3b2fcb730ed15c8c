package player

import (
	"rpcx/wire"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// An unsure is the entry that was given to an answer though that differs.
type unsure struct {
	entry int32
	extra *Found // the answer, as an extra one
}

// answer returns the entry of a response to entry own; None, with msg recorded as extra, if none is left.
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
		k.addExtra(k.here(k.p.track.Method(int(own)), msg))
		return i
	}
	k.last = i
	return i
}

// handAwaited returns the next line, if people wrote it without "re" in place of an answer: msg, which answers
// entry own, does not fit it, and nothing else will.
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

// answered returns the entry of msg, of those that answer at, for which own stands: the first that
// has not come, or one near it which msg equals.
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
	k.unsure = &unsure{i, k.here(k.p.track.Method(int(own)), msg)}
	return i
}

// may reports whether msg may be entry i: nothing says that it differs.
func (k *pairing) may(i int32, msg []byte) bool {
	found, _ := k.p.differences(i, msg)
	return len(found) == 0
}

// farAnswer is how many responses to one request are searched before the position is remembered.
const farAnswer = 16

// unanswered returns the first response to entry own that has not arrived; None if all have.
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

// laterAnswer returns the response to entry own that msg equals, of those after entry i; None if there is none nearby.
// Responses before it count as missing after a while.
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

// equalNear bounds, in entries, the distance of an equal request.
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
