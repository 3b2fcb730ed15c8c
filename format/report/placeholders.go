package report

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"io"
)

// placeholders are texts that replace marks in a finished document, because they may be too large for memory.
type placeholders []part

// A part is the text that replaces one mark.
type part struct {
	mark  []byte
	write func(w io.Writer) error
}

// add returns a mark that is unique. The document must contain it exactly once, after all earlier marks.
func (l *placeholders) add(write func(w io.Writer) error) string {
	mark := "later-" + rand.Text()
	*l = append(*l, part{[]byte(mark), write})
	return mark
}

// extend sets the part of the document that the last text replaces to all, which contains the mark.
func (l placeholders) extend(all []byte) { l[len(l)-1].mark = all }

// write writes the document, with each mark replaced by its text.
func (l placeholders) write(to io.Writer, doc []byte) error {
	w := bufio.NewWriterSize(to, 64<<10)
	for _, p := range l {
		before, after, _ := bytes.Cut(doc, p.mark)
		if _, err := w.Write(before); err != nil {
			return err
		}
		if err := p.write(w); err != nil {
			return err
		}
		doc = after
	}
	if _, err := w.Write(doc); err != nil {
		return err
	}
	return w.Flush()
}
