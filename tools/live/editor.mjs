// The editor of a page's exercises: CodeMirror, put into one file with all that it needs, so that
// the site asks no other host. `calibkitEditor` is what the page's script uses.
import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

window.calibkitEditor = ({ parent, text, label, changed, run }) => {
  const keys = [{ key: "Mod-Enter", run }, { key: "Shift-Enter", run }];
  const extensions = [
    Prec.highest(keymap.of(keys)),
    lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
    autocompletion(), highlightActiveLine(), indentUnit.of("    "), python(),
    syntaxHighlighting(classHighlighter),
    // Escape, then Tab, leaves the editor: CodeMirror's own rule.
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ "aria-label": label }),
    EditorView.updateListener.of(({ docChanged, state }) => docChanged && changed(state.doc.toString())),
  ];
  const view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
  return {
    text: () => view.state.doc.toString(),
    write: (all) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: all } }),
    focus: () => view.focus(),
  };
};
