// SUBSCRIBE in the SQL shell: the statements of a text run over a websocket, and rows show as they come.
const KEPT = 1000;
const types = { 16: 'boolean', 20: 'bigint', 21: 'smallint', 23: 'integer', 25: 'text', 700: 'real', 701: 'double precision', 1082: 'date', 1114: 'timestamp', 1184: 'timestamp with time zone', 1700: 'numeric', 2950: 'uuid', 3802: 'jsonb', 16552: 'mz_timestamp' };
const numbers = new Set([20, 21, 23, 26, 700, 701, 1700, 16462, 16464, 16552]);
const make = (tag, look, text) => { const element = document.createElement(tag); if (look) element.className = look; if (text !== undefined) element.textContent = text; return element; };
const time = (ms) => new Date(Number(ms)).toISOString().slice(11, 23);

// Whether a text is to be streamed: one of its statements begins with SUBSCRIBE or TAIL.
export function streams(text) {
  const plain = text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ').replace(/'(?:[^']|'')*'/g, "''");
  return /(?:^|;)\s*(?:subscribe|tail)\b/i.test(plain);
}

function shown(value) {
  if (value === null) return make('td', 'null', 'NULL');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const cell = make('td', '', text.length > 2000 ? `${text.slice(0, 2000)}…` : text);
  if (text.length > 60) cell.title = cell.textContent;
  return cell;
}

// One statement's result: a card with a grid whose newest rows are at its top.
class Card {
  constructor(results, streaming) {
    this.root = document.querySelector('#stream-card').content.firstElementChild.cloneNode(true);
    this.streaming = streaming;
    [this.count, this.removed, this.waiting, this.first] = [0, 0, [], null];
    this.part('.buttons').hidden = !streaming;
    results.append(this.root);
  }

  part(selector) { return this.root.querySelector(selector); }

  begin(columns) {
    this.columns = columns;
    this.at = Object.fromEntries(columns.map((column, index) => [column.name, index]));
    const grid = make('div', 'rowsgrid');
    Object.assign(grid, { tabIndex: 0, role: 'region', ariaLabel: 'Rows, scrollable' });
    const head = make('tr');
    for (const column of columns) {
      const cell = make('th', numbers.has(column.type_oid) ? 'num' : '', column.name);
      cell.scope = 'col';
      cell.append(make('small', '', types[column.type_oid] ?? ''));
      head.append(cell);
    }
    this.body = make('tbody');
    const table = make('table');
    table.append(make('thead'), this.body);
    table.tHead.append(head);
    grid.append(table);
    this.part('.grid').append(grid);
    this.told();
  }

  row(values) {
    if (this.streaming && this.at.mz_progressed === 1 && values[1] === true) { this.through = values[0]; this.draw(); return; }
    this.count += 1;
    this.waiting.push(values);
    if (this.waiting.length > KEPT) this.waiting.shift();
    this.draw();
  }

  draw() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; if (!this.paused) this.put(); this.told(); });
  }

  put() {
    const rows = this.waiting.splice(0);
    this.first ??= this.streaming && rows.length ? rows[0][0] : null;
    for (const values of rows) {
      const line = make('tr', this.streaming ? this.look(values) : '');
      line.append(...values.map((value, index) => { const cell = shown(value); if (numbers.has(this.columns[index].type_oid)) cell.classList.add('num'); return cell; }));
      if (this.streaming) this.body.prepend(line); else this.body.append(line);
    }
    while (this.body.rows.length > KEPT) this.body.rows[this.streaming ? this.body.rows.length - 1 : 0].remove();
  }

  look(values) {
    const state = values[this.at.mz_state ?? -1];
    const gone = state === undefined ? Number(values[this.at.mz_diff]) < 0 : state === 'delete' || state === 'key_violation';
    if (gone) return 'gone';
    return values[0] === this.first ? '' : 'come';
  }

  told() {
    const rows = `${this.count.toLocaleString()} row${this.count === 1 ? '' : 's'}`;
    this.part('.rows').textContent = this.streaming ? `${rows} told` : rows;
    const held = this.paused && this.waiting.length ? `Paused, ${this.waiting.length.toLocaleString()} wait` : '';
    this.part('.through').textContent = held || (this.through ? `complete before ${time(this.through)} UTC` : '');
  }

  pause() {
    this.paused = !this.paused;
    this.part('[data-pause]').setAttribute('aria-pressed', String(this.paused));
    this.part('[data-pause] span').textContent = this.paused ? 'Go on' : 'Pause';
    this.draw();
  }

  end(tag, look) {
    this.put();
    this.part('.state').textContent = tag;
    this.part('.state').className = `tag ${look} state`;
    this.part('.buttons').hidden = true;
    this.told();
  }
}

function notice(card, { severity, message, hint }) {
  const line = make('div', 'notice');
  line.append(make('span', 'tag dim', severity), ` ${message} `, make('span', 'muted', hint ?? ''));
  card.part('header').after(line);
}

function failed(results, error) {
  const card = make('section', 'card result');
  const head = make('header');
  head.append(make('em', 'tag bad', `error ${error.code}`));
  const box = make('div', 'notice');
  const said = make('p');
  said.append(make('b', '', error.message));
  box.append(said);
  if (error.detail) box.append(make('p', 'muted', error.detail));
  if (error.hint) { const hint = make('p'); hint.append(make('b', '', 'Hint: '), error.hint); box.append(hint); }
  card.append(head, box);
  results.append(card);
}

// Runs the text; resolves when it is over: {stopped}, {error} or {}. `onrun` gets a way to stop it.
export function stream(text, results, onrun) {
  results.replaceChildren();
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  const socket = new WebSocket(`${scheme}://${location.host}/api/experimental/sql`);
  let [card, asked, outcome] = [null, false, null];
  const finish = (found) => { outcome ??= found; socket.close(); };
  const stop = () => { card?.end('stopped', 'dim'); finish({ stopped: true }); };
  onrun(stop);
  const frames = {
    ReadyForQuery() { if (asked) finish({}); else { asked = true; socket.send(JSON.stringify({ query: text })); } },
    CommandStarting({ is_streaming: streaming }) {
      card = new Card(results, streaming);
      card.part('[data-stop]').addEventListener('click', stop);
      card.part('[data-pause]').addEventListener('click', () => card.pause());
    },
    Rows({ columns }) { card.begin(columns); },
    Row(values) { card.row(values); },
    Notice(said) { notice(card, said); },
    CommandComplete(tag) { card.end(card.streaming ? 'complete' : tag, 'ok'); },
    Error(error) { card?.end('ended', 'bad'); failed(results, error); finish({ error }); },
  };
  return new Promise((resolve) => {
    socket.addEventListener('open', () => socket.send(JSON.stringify({ region: document.documentElement.dataset.region })));
    socket.addEventListener('message', ({ data }) => { const { type, payload } = JSON.parse(data); if (!outcome) frames[type]?.(payload); });
    socket.addEventListener('close', () => {
      if (!outcome) { card?.end('cut off', 'bad'); failed(results, { code: '08006', message: 'the connection was lost', hint: 'Run it again. AS OF with the last time goes on without a gap.' }); }
      resolve(outcome ?? { error: {} });
    });
  });
}
