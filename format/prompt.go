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

// A Prompt is the line that a user edits at the bottom of a terminal, below all other output. Write is safe for
// concurrent use. Only one goroutine may call ReadLine.
type Prompt struct {
	in, out *os.File
	edit    *term.Terminal
	signals chan os.Signal
	done    chan struct{}
	before  *term.State // the terminal modes before the prompt was opened

	mu     sync.Mutex
	closed bool
	rest   []byte // the start of an incomplete line
}

// PromptOptions configure a Prompt.
type PromptOptions struct {
	Text string // precedes the line that the user edits
	// Interrupt is called on Ctrl-C, which sends no signal during a prompt. If it returns false, the line is cleared.
	Interrupt func() bool
	// Complete is called on Tab. It returns the completed line and the new position of the cursor.
	Complete func(line string, pos int) (string, int)
	// Full is called for each character that no longer fits into the line.
	Full func()
	// History contains the lines that the arrow keys recall.
	History PromptHistory
}

// A PromptHistory contains earlier lines. The latest has index 0.
type PromptHistory interface {
	Len() int
	At(i int) string
}

// longestLine is the maximum number of characters that can be typed. A paste can be longer.
const longestLine = 4096

// Interactive reports whether a prompt is possible: in and out are terminals, and the cursor of out can be moved.
func Interactive(in *os.File, out Screen) bool {
	return out.Terminal && !out.Dumb && term.IsTerminal(int(in.Fd()))
}

// OpenPrompt switches the terminal to the modes that editing needs, and draws the prompt. Close restores the terminal.
func OpenPrompt(in, out *os.File, o PromptOptions) (*Prompt, error) {
	p := &Prompt{in: in, out: out, signals: make(chan os.Signal, 4), done: make(chan struct{})}
	typed := keyboard.NewKeys(in, o.Interrupt, p.suspend)
	p.edit = term.NewTerminal(streams{typed, keyboard.Screen(out)}, o.Text)
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
	go p.handleSignals()
	return p, nil
}

// quietHistory prevents the editor from adding lines to the history, because the code that uses the Prompt does that.
type quietHistory struct{ PromptHistory }

func (quietHistory) Add(string) {}

func (h quietHistory) At(i int) string { return keyboard.Padded(h.PromptHistory.At(i)) }

// ReadLine reads one line. It returns io.EOF on Ctrl-D, or when the terminal is closed.
func (p *Prompt) ReadLine() (string, error) {
	line, err := p.edit.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return keyboard.Unpadded(line), err
}

// Write writes whole lines above the prompt. It stores an incomplete last line.
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
	_, err := p.edit.Write(append(p.rest, b[:end]...))
	p.rest = append(p.rest[:0:0], b[end:]...)
	return len(b), err
}

// SetText changes the text that precedes the line. The change appears when the line is next drawn.
func (p *Prompt) SetText(text string) { p.edit.SetPrompt(text) }

// Redraw draws the line again.
func (p *Prompt) Redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		_, _ = p.edit.Write(nil)
	}
}

// suspend handles Ctrl-Z. It restores the terminal and stops the process until the shell continues it. If no shell
// could continue the process, the system does not stop it.
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

// giveBack restores the terminal modes, for other programs.
func (p *Prompt) giveBack() {
	p.edit.SetBracketedPasteMode(false)
	_, _ = io.WriteString(p.out, "\r\n\x1b[J")
	p.Restore()
}

// take sets the terminal modes that the editor needs, and draws the line.
func (p *Prompt) take() {
	_, _ = term.MakeRaw(int(p.in.Fd()))
	p.edit.SetBracketedPasteMode(true)
	_, _ = p.edit.Write(nil)
}

// Restore restores the terminal modes and nothing else, even while another goroutine writes. It is called just before
// the process ends.
func (p *Prompt) Restore() { _ = term.Restore(int(p.in.Fd()), p.before) }

// Close restores the terminal. Any goroutine may call it, several times. A ReadLine that is waiting does not return.
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

// resize sets the editor's width to that of the terminal.
func (p *Prompt) resize() {
	if w, h, err := term.GetSize(int(p.out.Fd())); err == nil && w > 0 {
		_ = p.edit.SetSize(w, h)
	}
}

// handleSignals handles signals: about a new size of the terminal, about stopping and continuing, and SIGQUIT, because
// the terminal must be restored before its dump.
func (p *Prompt) handleSignals() {
	for {
		select {
		case <-p.done:
			return
		case s := <-p.signals:
			p.handleSignal(s)
		}
	}
}
