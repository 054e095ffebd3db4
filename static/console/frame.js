// Palette, theme, shortcuts, copying and dialogs. No inline script, no eval.
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  const toast = (text) => {
    const box = document.createElement('div');
    box.textContent = text;
    one('#toasts').append(box);
    setTimeout(() => box.remove(), 3200);
  };
  window.headrace = { toast };
  all('[data-toast]').forEach((box) => setTimeout(() => box.remove(), 5000));

  async function copy(button) {
    const from = button.dataset.copyFrom;
    const text = button.dataset.copyUrl ? await (await fetch(button.dataset.copyUrl, { headers: { 'Headrace-Region': document.documentElement.dataset.region ?? '' } })).text()
      : from ? one(from).textContent : button.parentElement.querySelector('code').textContent;
    try { await navigator.clipboard.writeText(text.trim()); } catch { return toast('The browser did not allow copying'); }
    const lines = text.trim().split('\n').length;
    toast(lines > 1 ? `Copied ${lines.toLocaleString()} lines` : 'Copied');
  }

  function switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme === 'dark' || (root.dataset.theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
    root.dataset.theme = dark ? 'light' : 'dark';
    document.cookie = `theme=${root.dataset.theme};path=/;max-age=31536000;samesite=lax`;
    document.dispatchEvent(new Event('themechange'));
  }

  const dialog = one('#palette');
  const list = one('#palette-list');
  let found = null;
  async function openPalette() {
    dialog.showModal();
    const input = one('input', dialog);
    input.value = '';
    filter('');
    input.focus();
    if (found) return;
    found = fetch('/palette', { headers: { 'Headrace-Region': document.documentElement.dataset.region ?? '' } }).then((answer) => { if (answer.redirected) location.reload(); return answer.ok && !answer.redirected ? answer.text() : ''; });
    list.insertAdjacentHTML('beforeend', await found);
    filter(input.value.toLowerCase());
    setTimeout(() => { found = null; all('[data-object]', list).forEach((item) => !dialog.open && item.remove()); }, 60000);
  }
  function filter(text) {
    let first = true, shown = 0;
    for (const item of all('li', list)) {
      const words = `${item.textContent} ${item.dataset.keys ?? ''}`.toLowerCase();
      const hit = shown < 60 && text.split(' ').every((word) => words.includes(word));
      item.hidden = !hit;
      item.firstElementChild.setAttribute('aria-selected', String(hit && first));
      if (hit) { first = false; shown += 1; }
    }
  }
  function move(event) {
    const visible = all('li:not([hidden])', list);
    const at = visible.findIndex((item) => item.firstElementChild.getAttribute('aria-selected') === 'true');
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const next = visible[(at + (event.key === 'ArrowDown' ? 1 : -1) + visible.length) % visible.length];
      visible.forEach((item) => item.firstElementChild.setAttribute('aria-selected', String(item === next)));
      next?.scrollIntoView({ block: 'nearest' });
    }
    if (event.key === 'Enter') { event.preventDefault(); visible[at]?.querySelector('a').click(); }
  }
  one('input', dialog).addEventListener('input', (event) => filter(event.target.value.toLowerCase()));
  dialog.addEventListener('keydown', move);
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());

  document.addEventListener('click', (event) => {
    const hit = (selector) => event.target.closest?.(selector);
    if (hit('[data-copy], [data-copy-from], [data-copy-url]')) copy(hit('[data-copy], [data-copy-from], [data-copy-url]'));
    if (hit('[data-theme-toggle]')) switchTheme();
    if (hit('[data-palette]')) openPalette();
    if (hit('[data-open]')) { const pop = one(hit('[data-open]').dataset.open); fill(pop, hit('[data-open]')); pop.showModal(); }
    if (hit('[data-close]')) hit('dialog').close();
    if (hit('tr[data-href]') && !hit('a, button, input')) location.href = hit('tr[data-href]').dataset.href;
  });
  function fill(pop, button) {
    for (const [key, value] of Object.entries(button.dataset)) {
      all(`[data-fill="${key}"]`, pop).forEach((spot) => ('value' in spot ? spot.value = value : spot.textContent = value));
    }
  }
  // A form belongs to the region that its page shows, whatever another tab has switched to since.
  function stay(form) {
    const { region } = document.documentElement.dataset;
    if (!region || form.getAttribute('method') !== 'post' || form.hasAttribute('data-any-region')) return;
    const target = new URL(form.getAttribute('action') ?? location.href, location.href);
    if (!target.searchParams.has('region')) target.searchParams.set('region', region);
    form.setAttribute('action', target);
  }
  document.addEventListener('submit', (event) => {
    const button = event.submitter, form = event.target;
    if (event.defaultPrevented || form.getAttribute('method') === 'dialog' || form.hasAttribute('hx-get')) return;
    if (form.dataset.sent !== undefined) { event.preventDefault(); return; }
    form.dataset.sent = '';
    stay(form);
    setTimeout(() => { if (button) { button.disabled = true; button.dataset.busy = ''; } });
  });
  window.addEventListener('pageshow', (event) => {
    if (event.persisted && one('[data-fresh]')) location.reload();
    all('form[data-sent]').forEach((form) => delete form.dataset.sent);
    all('[data-busy]').forEach((button) => { button.disabled = false; delete button.dataset.busy; });
  });

  // The page's main form, or the form of an open dialog; once, and only if its button could be pressed.
  function submitMain(target) {
    const form = target.closest?.('dialog')?.querySelector('form:not([method=dialog])') ?? one('form[data-main]');
    if (!form || form.dataset.sent !== undefined) return;
    const button = one('.primary', form) ?? one(`.primary[form="${form.id}"]`);
    if (button && !button.disabled) form.requestSubmit(button);
  }

  const typing = (element) => element.matches?.('input:not([type=checkbox], [type=radio]), textarea, select, sql-editor') || element.isContentEditable;
  document.addEventListener('keydown', (event) => {
    const command = event.metaKey || event.ctrlKey;
    if (command && event.key.toLowerCase() === 'k') { event.preventDefault(); openPalette(); }
    else if (command && event.key === 'Enter' && !event.target.closest?.('sql-editor')) submitMain(event.target);
    else if (event.key === '/' && !typing(event.target)) { const q = one('#q'); if (q) { event.preventDefault(); q.focus(); q.select(); } }
    else if (event.key === 'Escape' && event.target.id === 'q') { event.target.value = ''; event.target.dispatchEvent(new Event('input', { bubbles: true })); }
  });
  all('dialog[data-show]').forEach((pop) => pop.showModal());
})();
