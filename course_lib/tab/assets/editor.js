// The editor of a live cell: CodeMirror with Python, four spaces, and marks in the gutter.
import {
  bracketMatching, classHighlighter, closeBrackets, closeBracketsKeymap, defaultKeymap, drawSelection,
  EditorState, EditorView, highlightActiveLine, highlightActiveLineGutter, history, historyKeymap,
  indentOnInput, indentUnit, indentWithTab, keymap, lineNumbers, lintGutter, lintKeymap, python,
  setDiagnostics, syntaxHighlighting,
} from "./codemirror.js";

const SEVERITY = { error: "error", warning: "warning", other: "info" };

// Options: `parent`, `text`, `label`, `describedBy` (an element's id), and two callbacks: `onCheck()`
// at Shift-Enter or Ctrl-Enter, `onChange(text)`.
export class Editor {
  constructor({ parent, text, label, describedBy, onCheck, onChange }) {
    const check = () => (onCheck(), true);
    this.view = new EditorView({
      parent,
      doc: text,
      extensions: [
        keymap.of([
          { key: "Shift-Enter", run: check },
          { key: "Mod-Enter", run: check },
          { key: "Ctrl-Enter", run: check },
          ...closeBracketsKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap,
          indentWithTab, // Escape, then Tab leaves the editor
        ]),
        lineNumbers(), lintGutter(), highlightActiveLineGutter(), highlightActiveLine(),
        history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
        EditorState.tabSize.of(4), indentUnit.of("    "),
        python(), syntaxHighlighting(classHighlighter),
        EditorView.contentAttributes.of({
          "aria-label": label, "aria-describedby": describedBy, spellcheck: "false", autocapitalize: "off",
          autocorrect: "off", tabindex: "0",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // Replace everything, as one step that can be undone: CodeMirror joins changes that follow each
  // other quickly, but not those of such an event.
  replace(text) {
    const changes = { from: 0, to: this.view.state.doc.length, insert: text };
    this.view.dispatch({ changes, userEvent: "replace" });
  }

  focus() {
    this.view.focus();
  }

  // Marks at lines: { line, severity, title, message, hint }.
  mark(marks) {
    const { doc } = this.view.state;
    const placed = marks.filter(({ line }) => line >= 1 && line <= doc.lines).map((mark) => {
      const { from, to, text } = doc.line(mark.line);
      const indent = text.length - text.trimStart().length;
      return {
        from: from + indent, to, severity: SEVERITY[mark.severity] ?? "info",
        message: [mark.title, mark.message, mark.hint].filter(Boolean).join("\n"),
        renderMessage: () => rendered(mark),
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, placed));
  }
}

function rendered({ title, message, hint }) {
  const box = document.createElement("div");
  const head = document.createElement("strong");
  head.textContent = title;
  box.append(head);
  for (const words of [message, hint].filter(Boolean)) {
    const paragraph = document.createElement("p");
    words.split("`").forEach((part, place) => {
      const piece = document.createElement(place % 2 ? "code" : "span");
      piece.textContent = part;
      paragraph.append(piece);
    });
    box.append(paragraph);
  }
  return box;
}
