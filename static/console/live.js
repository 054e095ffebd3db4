// Keeps a page true over a websocket: changed fragments replace their elements. Old data stays while disconnected.
(() => {
  const page = document.querySelector('[data-live]');
  const pill = document.querySelector('#live-pill');
  if (!page) return;
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
  }

  let wait = 500, silent = null, opened = false;
  function connect() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/ws/live?${page.dataset.live}`);
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
      if (event.code === 4401) { say('off', 'Signed out'); return; }
      if (event.code === 4404) { say('done', 'Gone'); return; }
      say('off', opened ? 'Reconnecting…' : 'Not live');
      setTimeout(connect, wait);
      wait = Math.min(wait * 1.7, 8000);
    });
  }
  connect();
})();

class LiveChart extends HTMLElement {
  connectedCallback() {
    this.times = []; this.values = [];
    this.style.display = 'block';
    const now = Math.floor(Date.now() / 1000);
    for (let t = now - 120; t < now; t += 1) { this.times.push(t); this.values.push(null); }
    this.draw();
    document.addEventListener('themechange', () => this.draw());
    new ResizeObserver(() => this.plot.setSize({ width: this.clientWidth - 12, height: 112 })).observe(this);
    this.timer = setInterval(() => this.sample(), 1000);
  }
  disconnectedCallback() { clearInterval(this.timer); }
  format(value) {
    if (value == null) return '–';
    const units = this.dataset.unit === 'bytes' ? [' B', ' KB', ' MB', ' GB', ' TB'] : ['', 'K', 'M', 'B', 'T'];
    let at = 0;
    while (value >= 1000 && at < 4) { value /= 1000; at += 1; }
    return (value >= 100 || at === 0 ? Math.round(value) : value.toFixed(1)) + units[at] + (this.dataset.unit === 'ms' ? ' ms' : '');
  }
  sample() {
    const spot = document.getElementById(this.dataset.of);
    const text = spot?.dataset.value;
    const raw = text === undefined || text === '' ? null : Number(text);
    let value = raw;
    if (this.dataset.rate !== undefined) {
      const since = performance.now();
      value = raw !== null && this.last !== undefined && raw >= this.last ? (raw - this.last) / ((since - this.since) / 1000) : null;
      this.last = raw ?? undefined; this.since = since;
    }
    const live = document.querySelector('#live-pill')?.dataset.state === 'on';
    this.times.push(Math.floor(Date.now() / 1000)); this.values.push(live ? value : null);
    this.times.shift(); this.values.shift();
    this.plot.setData([this.times, this.values]);
    this.say();
  }
  say() { const spot = this.previousElementSibling?.querySelector('output'); if (spot) spot.textContent = this.format(this.values.at(-1)) + (this.dataset.rate !== undefined && this.values.at(-1) != null ? '/s' : ''); }
  draw() {
    this.plot?.destroy();
    const probe = document.createElement('i');
    document.body.append(probe);
    const colour = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    const [line, grid, ink] = [colour('--accent'), colour('--line'), colour('--ink-3')];
    probe.remove();
    const axis = { stroke: ink, font: '11px Inter', grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    const clock = (plot, ticks) => ticks.map((t) => new Date(t * 1000).toLocaleTimeString([], { hour12: false }));
    this.plot = new uPlot({
      width: this.clientWidth - 12, height: 112, padding: [8, 22, 0, 0], legend: { show: false }, cursor: { y: false, points: { size: 6 } },
      scales: { y: { range: (plot, low, high) => [0, (high || 1) * 1.15] } },
      axes: [{ ...axis, grid: { show: false }, size: 22, space: 90, values: clock }, { ...axis, size: 58, space: 30, values: (plot, ticks) => ticks.map((v) => this.format(v)) }],
      series: [{}, { stroke: line, width: 1.75, fill: line.replace('rgb(', 'rgba(').replace(')', ', .10)'), points: { show: false } }],
    }, [this.times, this.values], this);
    this.say();
  }
}
if (document.querySelector('live-chart')) customElements.define('live-chart', LiveChart);
