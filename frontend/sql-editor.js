// <sql-editor>: CodeMirror in a shadow root, whose constructed style sheets pass a strict style-src.
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { PostgreSQL, SQLDialect, sql } from '@codemirror/lang-sql';
import { autocompletion, closeBrackets, closeCompletion, completionKeymap } from '@codemirror/autocomplete';
import { HighlightStyle, bracketMatching, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

const words = ' subscribe cluster replica source sources sink connection connections secret secrets publication reference'
  + ' references refresh generator load auction counter tpch columns redacted validate materialized snapshot progress envelope explain timestamp';
const dialect = SQLDialect.define({ ...PostgreSQL.spec, keywords: (PostgreSQL.spec.keywords ?? '') + words });
const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)' }, { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' }, { tag: tags.comment, color: 'var(--ink-3)' },
  { tag: tags.special(tags.string), color: 'var(--code-string)' },
]);
const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', color: 'var(--ink)', backgroundColor: 'var(--panel)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.65' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--ink-3)', border: '0', paddingLeft: '6px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--sunk)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-placeholder': { color: 'var(--ink-3)' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', border: '1px solid var(--line-2)', borderRadius: '8px', boxShadow: 'var(--pop)', overflow: 'hidden' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-wash)', color: 'var(--accent)' },
  '.mark-error': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '4px' },
});

const setMark = StateEffect.define();
const marks = StateField.define({
  create: () => Decoration.none,
  update(current, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMark)) {
      const { from, to } = effect.value ?? {};
      return to > from ? Decoration.set([Decoration.mark({ class: 'mark-error' }).range(from, to)]) : Decoration.none;
    }
    return transaction.docChanged ? Decoration.none : current;
  },
  provide: (field) => EditorView.decorations.from(field),
});

class SqlEditor extends HTMLElement {
  connectedCallback() {
    if (this.view) return;
    const root = this.attachShadow({ mode: 'open' });
    const run = (view) => { closeCompletion(view); return this.dispatchEvent(new CustomEvent('run', { bubbles: true })) || true; };
    const changed = EditorView.updateListener.of((update) => update.docChanged && this.dispatchEvent(new CustomEvent('edited', { bubbles: true })));
    const labels = EditorView.contentAttributes.of({ 'aria-label': 'SQL statements', 'aria-multiline': 'true' });
    const extensions = [
      lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(), autocompletion({ icons: false }), marks, look, labels, changed,
      sql({ dialect, schema: JSON.parse(this.getAttribute('schema') || '{}'), upperCaseKeywords: true }), syntaxHighlighting(colours), placeholder('SELECT ...'),
      keymap.of([{ key: 'Mod-Enter', run }, ...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    ];
    this.view = new EditorView({ root, parent: root, state: EditorState.create({ doc: this.getAttribute('value') ?? '', extensions }) });
  }

  get value() { return this.view.state.doc.toString(); }

  set value(text) { this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } }); }

  get selected() { const { from, to } = this.view.state.selection.main; return this.view.state.sliceDoc(from, to); }

  mark(at) {
    const length = this.view.state.doc.length;
    const from = Math.min(Math.max(at, 0), length);
    const word = this.view.state.doc.sliceString(from, Math.min(from + 80, length)).match(/^("[^"]*"|'[^']*'|[\w.$]+|\S)/)?.[0] ?? '';
    this.view.dispatch({ effects: setMark.of({ from: word ? from : Math.max(0, from - 1), to: word ? from + word.length : from }) });
  }

  clear() { this.view.dispatch({ effects: setMark.of(null) }); }

  focus() { this.view.focus(); }
}
customElements.define('sql-editor', SqlEditor);
