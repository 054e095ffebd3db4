// <ref-tree>: choosing among thousands of upstream tables with mouse and keys. The server holds the truth.
class RefTree extends HTMLElement {
  connectedCallback() {
    if (this.ready) return;
    this.ready = true;
    this.added = new Set(); this.removed = new Set();
    this.addEventListener('change', (event) => this.changed(event));
    this.addEventListener('click', (event) => this.clicked(event));
    this.addEventListener('keydown', (event) => this.key(event));
    this.addEventListener('pointerdown', (event) => { this.shift = event.shiftKey; }, true);
    new MutationObserver(() => this.sync()).observe(this, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-state'] });
    this.sync();
  }

  all(selector, root = this) { return [...root.querySelectorAll(selector)]; }

  // The server's data-state is the truth; checked and indeterminate are properties that morphing cannot set once dirty.
  sync() {
    for (const box of this.all('input[data-state]')) {
      box.indeterminate = box.dataset.state === 'mixed';
      box.checked = box.dataset.state === 'true';
    }
    if (!this.querySelector('.h[tabindex="0"], .r[tabindex="0"]')) this.querySelector('.h, .r')?.setAttribute('tabindex', '0');
  }

  get asked() {
    return {
      q: document.querySelector('#q').value, show: document.querySelector('[name=show]:checked')?.value ?? 'all',
      open: this.all('.h[aria-expanded=true]').map((head) => head.id.slice(2)).join(','),
    };
  }

  // What the rows on the screen answer to: the search box may be ahead of them.
  get seen() { return { q: this.dataset.q, show: this.dataset.show }; }

  address() {
    const url = new URL(location.href);
    for (const [key, value] of Object.entries(this.asked)) { if (value && value !== 'all') url.searchParams.set(key, value); else url.searchParams.delete(key); }
    history.replaceState(history.state, '', url.toString().replaceAll('%2C', ','));
  }

  post(values) {
    const saved = document.querySelector('#saved');
    saved?.setAttribute('data-busy', '');
    const done = () => saved?.removeAttribute('data-busy');
    return htmx.ajax('POST', `${this.dataset.base}/select`, { source: this, target: this, swap: 'none', values: { ...this.asked, ...this.seen, ...values } }).then(done, done);
  }

  mark(box, on) {
    if (box.disabled) return;
    box.dataset.state = String(on);
    box.checked = on;
    if (on) box.closest('.r')?.setAttribute('aria-selected', 'true'); else box.closest('.r')?.removeAttribute('aria-selected');
  }

  queue(box, on) {
    if (box.disabled) return;
    this.mark(box, on);
    const key = box.dataset.ref;
    (on ? this.added : this.removed).add(key);
    (on ? this.removed : this.added).delete(key);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), 90);
  }

  async flush() {
    for (const [op, keys] of [['add', this.added], ['remove', this.removed]]) {
      if (!keys.size) continue;
      const ids = [...keys].join(',');
      keys.clear();
      await this.post({ op, ids });
    }
  }

  changed(event) {
    const box = event.target;
    if (box.dataset.ref) {
      const boxes = this.all('input[data-ref]'), at = boxes.indexOf(box), last = boxes.indexOf(this.last), on = box.checked;
      if (this.shift && last >= 0) {
        for (const other of boxes.slice(Math.min(at, last), Math.max(at, last) + 1)) if ((other.dataset.state === 'true') !== on) this.queue(other, on);
      }
      this.queue(box, on);
      this.last = box;
    } else if (box.dataset.nsbox !== undefined || 'all' in box.dataset) {
      const on = box.checked, root = box.dataset.nsbox !== undefined ? box.closest('.g') : this;
      box.dataset.state = String(on);
      this.all('input[data-ref], input[data-nsbox]', root).forEach((other) => this.mark(other, on));
      this.post({ op: on ? 'add' : 'remove', ns: box.dataset.nsbox ?? '' });
    }
  }

  clicked(event) {
    const columns = event.target.closest('[data-cols]');
    if (columns) { this.columns(columns.dataset.cols); return; }
    const head = event.target.closest('.h');
    if (head && !event.target.closest('input')) this.toggle(head);
  }

  toggle(head, want) {
    const open = want ?? head.getAttribute('aria-expanded') !== 'true', rows = head.nextElementSibling;
    head.setAttribute('aria-expanded', open);
    rows.hidden = !open;
    this.address();
    if (!open || rows.firstElementChild) return;
    const { q, show } = this.seen;
    htmx.ajax('GET', `${this.dataset.base}/schema?${new URLSearchParams({ ns: head.dataset.ns, q, show })}`, { target: rows, swap: 'innerHTML' });
  }

  columns(key) {
    const row = document.getElementById(`r${key}`), box = document.getElementById(`cols${key}`), arrow = row.querySelector('.tw');
    if (box) { box.remove(); arrow.setAttribute('aria-expanded', 'false'); return; }
    arrow.setAttribute('aria-expanded', 'true');
    htmx.ajax('GET', `${this.dataset.base}/columns/${encodeURIComponent(key)}`, { target: row, swap: 'afterend' });
  }

  focusRow(row) {
    if (!row) return;
    this.all('[role=row][tabindex="0"]').forEach((other) => { other.tabIndex = -1; });
    row.tabIndex = 0;
    row.focus();
    row.scrollIntoView({ block: 'nearest' });
  }

  key(event) {
    const row = event.target.closest('.h, .r');
    if (!row || event.target.matches('input[type=radio]') || event.metaKey || event.ctrlKey) return;
    const rows = this.all('.h, .r').filter((other) => other.offsetParent), at = rows.indexOf(row), head = row.classList.contains('h');
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1, PageDown: Math.min(at + 15, rows.length - 1), PageUp: Math.max(at - 15, 0) };
    const to = steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      const box = event.shiftKey && rows[to]?.querySelector('input[data-ref]');
      if (box) this.queue(box, row.querySelector('input').checked);
      this.focusRow(rows[to]);
    } else if (event.key === ' ') {
      event.preventDefault();
      const box = row.querySelector('input');
      if (box.disabled) return;
      box.checked = !box.checked;
      this.shift = false;
      box.dispatchEvent(new Event('change', { bubbles: true }));
    } else if (event.key === 'ArrowRight') {
      event.preventDefault();
      if (head) this.toggle(row, true); else if (!document.getElementById(`cols${row.id.slice(1)}`)) this.columns(row.id.slice(1));
    } else if (event.key === 'ArrowLeft') {
      event.preventDefault();
      if (head) this.toggle(row, false);
      else if (document.getElementById(`cols${row.id.slice(1)}`)) this.columns(row.id.slice(1));
      else this.focusRow(row.closest('.g').firstElementChild);
    }
  }
}
customElements.define('ref-tree', RefTree);

document.addEventListener('htmx:after:swap', () => document.querySelector('ref-tree')?.address());
document.addEventListener('htmx:config:request', (event) => {
  const form = event.detail?.ctx?.sourceElement;
  if (!form?.closest?.('.colbox')) return;
  for (const [key, value] of Object.entries(document.querySelector('ref-tree').asked)) event.detail.ctx.request.body?.set?.(key, value);
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' || event.target.id !== 'q') return;
  event.preventDefault();
  const tree = document.querySelector('ref-tree');
  tree.focusRow(tree.querySelector('.h, .r'));
});
