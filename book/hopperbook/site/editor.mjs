// The editor for Python on the pages: CodeMirror, bundled when the book is built and loaded when a reader opens it.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

/** Put an editor into an element; return how to read it, to set its text, and to focus it. */
export function editor(parent, { text, label, describedBy, run }) {
  const extensions = [
    keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
    history(),
    python(),
    indentUnit.of("    "),
    indentOnInput(),
    bracketMatching(),
    lineNumbers(),
    drawSelection(),
    syntaxHighlighting(classHighlighter),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": describedBy }),
  ];
  const state = () => EditorState.create({ doc: text, extensions });
  const view = new EditorView({ state: state(), parent });
  return {
    text: () => view.state.doc.toString(),
    set: (other) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } }),
    focus: () => view.focus(),
  };
}
