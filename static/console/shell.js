// The SQL shell: runs what the editor holds, shows results, marks errors, keeps a history in this browser.
import { stream, streams } from './shell-stream.js';

const editor = document.querySelector('sql-editor');
const results = document.querySelector('#results');
const state = document.querySelector('#run-state');
const runButton = document.querySelector('#run');
const stopButton = document.querySelector('#stop');
const pop = document.querySelector('#history');
const KEY = 'headrace-shell';
const past = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? []; } catch { return []; } };
const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* storage is full or forbidden: the shell works without */ } };

await customElements.whenDefined('sql-editor');
if (!editor.value) editor.value = localStorage.getItem(`${KEY}-draft`) ?? '';
if (document.activeElement === document.body) editor.focus();
editor.addEventListener('edited', () => keep(`${KEY}-draft`, editor.value));

function offset(text) {
  if (text === editor.value) return 0;
  return Math.max(0, editor.value.indexOf(text));
}

const remember = (text) => keep(KEY, JSON.stringify([text, ...past().filter((other) => other !== text)].slice(0, 100)));

// SUBSCRIBE goes on until it is stopped: by its button, by this one, or by leaving.
async function follow(text) {
  remember(text);
  const { stopped, error } = await stream(text, results, (stop) => {
    stopButton.hidden = false;
    stopButton.onclick = stop;
    state.textContent = 'Streaming…';
  });
  stopButton.hidden = true;
  state.textContent = stopped ? 'Stopped' : error ? 'Ended with an error' : 'Complete';
  if (error?.position) editor.mark(offset(text) + error.position - 1);
}

async function run() {
  const text = editor.selected || editor.value;
  if (!text.trim() || runButton.disabled) return;
  editor.clear();
  runButton.disabled = true;
  state.textContent = 'Running…';
  if (streams(text)) { await follow(text); runButton.disabled = false; return; }
  const token = document.cookie.match(/csrftoken=([^;]+)/)?.[1] ?? JSON.parse(document.body.getAttribute('hx-headers:inherited'))['X-CSRFToken'];
  try {
    const answer = await fetch('/shell/run', { method: 'POST', headers: { 'X-CSRFToken': token, 'Headrace-Region': document.documentElement.dataset.region ?? '' }, body: new URLSearchParams({ sql: text }) });
    if (answer.redirected || answer.status === 403) { location.reload(); return; }
    results.innerHTML = await answer.text();
    state.textContent = document.querySelector('#timing')?.dataset.text ?? `The server answered ${answer.status}`;
    const wrong = results.querySelector('[data-position]');
    if (wrong) editor.mark(offset(text) + Number(wrong.dataset.position));
    remember(text);
  } catch { state.textContent = 'The server does not answer. Nothing is known about what ran.'; }
  runButton.disabled = false;
}
editor.addEventListener('run', run);
runButton.addEventListener('click', run);

document.querySelector('[data-open="#history"]').addEventListener('click', () => {
  const box = pop.querySelector('.hist');
  box.replaceChildren(...past().map((text) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text.replace(/\s+/g, ' ');
    button.addEventListener('click', () => { editor.value = text; pop.close(); editor.focus(); });
    return button;
  }));
  if (!box.children.length) box.innerHTML = '<p class="muted pad">Nothing yet. It stays in this browser.</p>';
});
pop.addEventListener('click', (event) => event.target === pop && pop.close());
