// A view's editor: asks the server what the text would make, marks its errors, keeps the form's copy.
const editor = document.querySelector('#editor');
const form = document.querySelector('#view-form');
const copy = form.elements.sql;
const checker = document.querySelector('#checker');
const preview = document.querySelector('#preview');
const state = document.querySelector('#check-state');
const PAUSE = 450;

await customElements.whenDefined('sql-editor');
editor.shadowRoot.querySelector('.cm-scroller').tabIndex = 0;
let timer = null;
let asked = '';
function sync() { copy.value = editor.value; }
function ask() {
  sync();
  const now = JSON.stringify([...new FormData(form)]);
  if (!copy.value.trim() || now === asked) return;
  asked = now;
  state.textContent = 'Checking…';
  checker.dispatchEvent(new CustomEvent('check'));
}
function soon() { clearTimeout(timer); sync(); timer = setTimeout(ask, PAUSE); }

function told() {
  const result = preview.querySelector('#check-result');
  if (!result || result === told.last) return;
  told.last = result;
  state.textContent = result.dataset.say;
  state.classList.toggle('bad', !result.dataset.ok);
  document.querySelector('#name').closest('.field').toggleAttribute('data-bad', result.dataset.field === 'name' && form.elements.name.value !== '');
  const at = Number(result.dataset.position || -1);
  if (at >= 0) editor.mark(at); else editor.clear();
}
new MutationObserver(told).observe(preview, { childList: true, subtree: true });

editor.addEventListener('edited', soon);
editor.addEventListener('run', () => form.requestSubmit(document.querySelector('#create')));
form.addEventListener('input', soon);
form.addEventListener('change', soon);
form.addEventListener('submit', sync, { capture: true });
document.querySelectorAll('[data-insert]').forEach((button) => button.addEventListener('click', () => { editor.value = button.dataset.insert; editor.focus(); }));
// htmx listens once the document is ready, which is after this module has run.
const begin = () => { if (editor.value.trim()) ask(); else editor.focus(); };
if (document.readyState === 'complete') begin(); else window.addEventListener('load', begin);
