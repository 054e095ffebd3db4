// <live-chart>: samples a number of the live page once a second. Kept while connected, a gap while not.
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
      axes: [{ ...axis, grid: { show: false }, size: 22, space: 90, values: clock }, { ...axis, size: 58, space: 30, values: (plot, ticks) => ticks.map((v) => (Number.isInteger(v) ? this.format(v) : '')) }],
      series: [{}, { stroke: line, width: 1.75, fill: line.replace('rgb(', 'rgba(').replace(')', ', .10)'), points: { show: false } }],
    }, [this.times, this.values], this);
    this.say();
  }
}
customElements.define('live-chart', LiveChart);
