// Keeps a page true over a websocket: changed fragments replace their elements. Old data stays while disconnected.
(() => {
  const page = document.querySelector('[data-live]');
  const pill = document.querySelector('#live-pill');
  if (!page) return;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const say = (state, text) => {
    if (!pill || pill.dataset.state === state) return;
    pill.dataset.state = state;
    pill.querySelector('span').textContent = text;
  };

  // Changes an element into another in place, so that focus, scrolling and transitions survive.
  function morph(from, to) {
    if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || from.id !== to.id) return from.replaceWith(to);
    if (from.nodeType !== Node.ELEMENT_NODE) { if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue; return undefined; }
    for (const { name } of [...from.attributes]) if (!to.hasAttribute(name)) from.removeAttribute(name);
    for (const { name, value } of [...to.attributes]) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    const [old, fresh] = [[...from.childNodes], [...to.childNodes]];
    fresh.forEach((node, at) => (old[at] ? morph(old[at], node) : from.append(node)));
    old.slice(fresh.length).forEach((node) => node.remove());
    return undefined;
  }
  const parse = (html) => { const box = document.createElement('template'); box.innerHTML = html; return box.content; };
  function put({ outer, inner }) {
    for (const [id, html] of Object.entries(outer)) {
      const element = document.getElementById(id);
      const fresh = parse(html.trim()).firstChild;
      if (element && fresh) morph(element, fresh);
    }
    for (const [id, html] of Object.entries(inner)) {
      const element = document.getElementById(id);
      if (!element) continue;
      const copy = element.cloneNode(false);
      copy.append(parse(html));
      morph(element, copy);
    }
    document.dispatchEvent(new CustomEvent('liveupdate'));
    all('[data-follow]').forEach(follow);
  }

  // A part that is read, not sent: read again when what it follows has moved, at a pace that a database bears.
  const PACE = 2500;
  function follow(part) {
    const version = document.getElementById(part.dataset.follow)?.dataset.version;
    part.version ??= version;
    if (version === part.version || part.waiting) return;
    const took = Number(part.querySelector('[data-took]')?.dataset.took ?? 0);
    part.waiting = setTimeout(() => {
      part.waiting = null;
      if (document.hidden || part.matches('.htmx-request')) return;
      part.version = document.getElementById(part.dataset.follow)?.dataset.version;
      part.dispatchEvent(new CustomEvent('fresh'));
    }, Math.min(8000, Math.max(PACE, took)));
  }
  document.addEventListener('visibilitychange', () => all('[data-follow]').forEach(follow));

  // What was shown stays; the way back in is beside the pill.
  function signedOut() {
    const link = document.createElement('a');
    link.href = `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
    link.className = 'btn sm';
    link.textContent = 'Sign in again';
    pill?.after(link);
  }

  // Dropped, or applied: the same address says which.
  function whatBecame() {
    const link = document.createElement('a');
    link.href = location.pathname;
    link.className = 'btn sm';
    link.textContent = 'What became of it';
    pill?.after(link);
  }

  let wait = 500, silent = null, opened = false;
  function connect() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const asked = new URLSearchParams(page.dataset.live);
    const { region } = document.documentElement.dataset;
    if (region && !asked.has('region')) asked.set('region', region);
    const socket = new WebSocket(`${scheme}://${location.host}/ws/live?${asked}`);
    const heard = () => { clearTimeout(silent); silent = setTimeout(() => socket.close(), 40000); };
    socket.addEventListener('open', () => { wait = 500; opened = true; heard(); });
    socket.addEventListener('message', (event) => {
      heard();
      const message = JSON.parse(event.data);
      if (message.outer) put(message);
      say('on', 'Live');
    });
    socket.addEventListener('close', (event) => {
      clearTimeout(silent);
      if (event.code === 4401) { say('off', 'Signed out'); signedOut(); return; }
      if (event.code === 4404) { say('done', 'Gone'); whatBecame(); return; }
      say('off', opened ? 'Reconnecting…' : 'Not live');
      setTimeout(connect, wait);
      wait = Math.min(wait * 1.7, 8000);
    });
  }
  connect();
})();
