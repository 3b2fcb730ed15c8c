package report

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"io"
)

// A placeholders holds text to insert into a complete document in place of marks, because the text may be too long for
// memory.
type placeholders []part

// A part is represented in a document by mark.
type part struct {
	mark  []byte
	write func(w io.Writer) error
}

// add returns a mark that cannot occur in the document otherwise. It must be used once, after the marks returned before.
func (l *placeholders) add(write func(w io.Writer) error) string {
	mark := "later-" + rand.Text()
	*l = append(*l, part{[]byte(mark), write})
	return mark
}

// stands makes the last mark stand for more of the document.
func (l placeholders) stands(all []byte) { l[len(l)-1].mark = all }

// write writes the document with the texts in place of the marks.
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
