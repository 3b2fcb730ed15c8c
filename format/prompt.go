package format

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"rpcx/format/keyboard"
)

// A Prompt is the line that a user edits at the bottom of a terminal, below all
// that is written to it. Write may be called from any goroutine, ReadLine from
// one.
type Prompt struct {
	in, out *os.File
	edit    *term.Terminal
	signals chan os.Signal
	done    chan struct{}
	before  *term.State // of the terminal

	mu     sync.Mutex
	closed bool
	rest   []byte // of a line that has not ended
}

// PromptOptions say how a Prompt behaves.
type PromptOptions struct {
	Text string // before the line
	// Interrupt is called at Ctrl-C, which sends no signal here. false clears the
	// line.
	Interrupt func() bool
	// Complete is called at Tab. It returns the line and the place of the cursor
	// as they should be.
	Complete func(line string, pos int) (string, int)
	// Full is called with each character that does not fit on the line any more.
	Full func()
	// History is looked through with the arrow keys.
	History PromptHistory
}

// A PromptHistory holds the lines of before, the latest at 0.
type PromptHistory interface {
	Len() int
	At(i int) string
}

// longestLine bounds, in characters, a line that is typed; a paste may be longer.
const longestLine = 4096

// Interactive reports whether a prompt can be shown: both are terminals, and
// this one can move its cursor.
func Interactive(in *os.File, out Screen) bool {
	return out.Terminal && !out.Dumb && term.IsTerminal(int(in.Fd()))
}

// OpenPrompt takes the terminal over. Close gives it back.
func OpenPrompt(in, out *os.File, o PromptOptions) (*Prompt, error) {
	p := &Prompt{in: in, out: out, signals: make(chan os.Signal, 4), done: make(chan struct{})}
	typed := keyboard.NewKeys(in, o.Interrupt, p.suspend)
	p.edit = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{typed, keyboard.Screen(out)}, o.Text)
	p.edit.History = quietHistory{o.History}
	p.edit.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if line == "" && key == keyboard.End {
			typed.End()
		}
		if line, pos, ok := keyboard.Edit(line, pos, key); ok {
			return line, pos, true
		}
		if key != '\t' {
			if utf8.RuneCountInString(line) >= longestLine && key >= ' ' {
				o.Full()
			}
			return "", 0, false
		}
		line, pos = o.Complete(keyboard.Unpadded(line), len(keyboard.Unpadded(line[:pos])))
		return keyboard.Padded(line), len(keyboard.Padded(line[:pos])), true
	}
	p.resize()
	var err error
	if p.before, err = term.MakeRaw(int(in.Fd())); err != nil {
		return nil, err
	}
	p.edit.SetBracketedPasteMode(true)
	signal.Notify(p.signals, terminalSignals...)
	go p.attend()
	return p, nil
}

// quietHistory keeps the editor from adding lines to the history: the user of a
// Prompt decides that.
type quietHistory struct{ PromptHistory }

func (quietHistory) Add(string) {}

func (h quietHistory) At(i int) string { return keyboard.Padded(h.PromptHistory.At(i)) }

// ReadLine reads one line; io.EOF is Ctrl-D, or a terminal that is gone.
func (p *Prompt) ReadLine() (string, error) {
	line, err := p.edit.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return keyboard.Unpadded(line), err
}

// Write puts whole lines above the prompt; what is no whole line waits for its
// end.
func (p *Prompt) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.out.Write(b)
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == 0 {
		p.rest = append(p.rest, b...)
		return len(b), nil
	}
	lines := b[:end]
	if len(p.rest) > 0 {
		lines = append(p.rest, lines...)
	}
	_, err := p.edit.Write(lines)
	p.rest = append(p.rest[:0:0], b[end:]...)
	return len(b), err
}

// SetText changes what stands before the line, from the next time on that it is
// drawn.
func (p *Prompt) SetText(text string) { p.edit.SetPrompt(text) }

// Redraw draws the line again.
func (p *Prompt) Redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		_, _ = p.edit.Write(nil)
	}
}

// suspend is Ctrl-Z: the shell has the terminal until it lets us go on. Where
// there is no shell to do so the system does not stop us.
func (p *Prompt) suspend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.giveBack()
	stopGroup()
	p.take()
}

// giveBack puts the terminal in order for others.
func (p *Prompt) giveBack() {
	p.edit.SetBracketedPasteMode(false)
	_, _ = io.WriteString(p.out, "\r\n\x1b[J")
	p.Restore()
}

// take takes the terminal as the editor needs it, and draws the line.
func (p *Prompt) take() {
	_, _ = term.MakeRaw(int(p.in.Fd()))
	p.edit.SetBracketedPasteMode(true)
	_, _ = p.edit.Write(nil)
}

// Restore gives the terminal its modes back and does nothing else, even while
// another goroutine writes to it: it runs just before the process ends.
func (p *Prompt) Restore() { _ = term.Restore(int(p.in.Fd()), p.before) }

// Close gives the terminal back as it was. It may be called twice, and from any
// goroutine; a ReadLine that waits goes on waiting.
func (p *Prompt) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	signal.Stop(p.signals)
	close(p.done)
	if len(p.rest) > 0 {
		_, _ = p.edit.Write(append(p.rest, '\n'))
	}
	p.giveBack()
	p.closed = true
}

// resize tells the editor how wide the terminal is.
func (p *Prompt) resize() {
	if w, h, err := term.GetSize(int(p.out.Fd())); err == nil && w > 0 {
		_ = p.edit.SetSize(w, h)
	}
}

// attend follows the terminal: its size, that we were stopped and go on, and that
// we are to end with a dump, which needs the terminal as it was.
func (p *Prompt) attend() {
	for {
		select {
		case <-p.done:
			return
		case s := <-p.signals:
			p.told(s)
		}
	}
}
