package framing

import (
	"bytes"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func BenchmarkRecv(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			framing, _ := ByName(name)
			sent := &stream{}
			_ = framing(sent, wire.Options{}).Send(object240)
			in := framing(&stream{Reader: &cycle{b: bytes.Repeat(sent.Bytes(), 300)}}, wire.Options{NoiseLimit: 100})
			b.SetBytes(240)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := in.Recv(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSend(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			framing, _ := ByName(name)
			out := framing(&void{}, wire.Options{}).(wire.Batcher)
			b.SetBytes(240)
			b.ReportAllocs()
			for b.Loop() {
				testkit.OK(b, out.SendBuffered(object240))
			}
		})
	}
}
