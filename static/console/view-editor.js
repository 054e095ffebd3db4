// A view's editor: asks the server what the text would make, marks its errors, keeps the form's copy.
const editor = document.querySelector('#editor');
const form = document.querySelector('#view-form');
const copy = form.elements.sql;
const preview = document.querySelector('#preview');
const state = document.querySelector('#check-state');
const PAUSE = 450;

await customElements.whenDefined('sql-editor');
editor.shadowRoot.querySelector('.cm-scroller').tabIndex = 0;
let timer = null;
let asked = '';
function sync() { copy.value = editor.value; }
let asking = null;
async function ask() {
  sync();
  const body = new URLSearchParams(new FormData(form));
  if (!copy.value.trim() || body.toString() === asked) return;
  asked = body.toString();
  state.textContent = 'Checking…';
  asking?.abort();
  asking = new AbortController();
  try {
    const answer = await fetch(preview.dataset.check, { method: 'POST', headers: { 'Headrace-Region': document.documentElement.dataset.region ?? '' }, body, signal: asking.signal });
    if (answer.redirected || answer.status === 403) { location.reload(); return; }
    if (!answer.ok) throw new Error(answer.status);
    preview.innerHTML = await answer.text();
    window.htmx?.process(preview);
    told();
  } catch (error) {
    if (error.name === 'AbortError') return;
    asked = '';
    state.textContent = 'The server does not answer. Typing on asks again.';
    state.classList.add('bad');
  }
}
function soon() { clearTimeout(timer); sync(); timer = setTimeout(ask, PAUSE); }

function told() {
  const result = preview.querySelector('#check-result');
  state.textContent = result.dataset.say;
  state.classList.toggle('bad', !result.dataset.ok);
  document.querySelector('#name').closest('.field').toggleAttribute('data-bad', result.dataset.field === 'name' && form.elements.name.value !== '');
  const at = Number(result.dataset.position || -1);
  if (at >= 0) editor.mark(at); else editor.clear();
}
editor.addEventListener('edited', soon);
editor.addEventListener('run', () => form.requestSubmit(document.querySelector('#create')));
form.addEventListener('input', soon);
form.addEventListener('change', soon);
form.addEventListener('submit', sync, { capture: true });
document.querySelectorAll('[data-insert]').forEach((button) => button.addEventListener('click', () => { editor.value = button.dataset.insert; editor.focus(); }));
// Who types in a field already, on a page that comes slowly, goes on there.
if (editor.value.trim()) ask(); else if (document.activeElement === document.body) editor.focus();
