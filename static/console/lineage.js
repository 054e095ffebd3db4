// Traces a column through the lineage graph while it is pointed at or focused.
document.querySelectorAll('[data-lineage] svg').forEach((svg) => {
  const traces = [...svg.querySelectorAll('.trace')];
  const columns = new Map([...svg.querySelectorAll('.col')].map((column) => [column.dataset.column, column]));
  function walk(key, from, to, seen) {
    for (const trace of traces) {
      if (trace.dataset[from] !== key || seen.has(trace)) continue;
      seen.add(trace);
      walk(trace.dataset[to], from, to, seen);
    }
    return seen;
  }
  function show(column) {
    clear();
    const key = column.dataset.column;
    const hot = new Set([...walk(key, 'tail', 'head', new Set()), ...walk(key, 'head', 'tail', new Set())]);
    svg.classList.add('tracing');
    column.classList.add('hot');
    for (const trace of hot) {
      trace.classList.add('hot');
      columns.get(trace.dataset.tail)?.classList.add('hot');
      columns.get(trace.dataset.head)?.classList.add('hot');
    }
  }
  function clear() {
    svg.classList.remove('tracing');
    svg.querySelectorAll('.hot').forEach((part) => part.classList.remove('hot'));
  }
  for (const column of columns.values()) {
    for (const event of ['pointerenter', 'focus']) column.addEventListener(event, () => show(column));
    for (const event of ['pointerleave', 'blur']) column.addEventListener(event, clear);
  }
  svg.querySelector('.node.focus')?.scrollIntoView({ block: 'nearest', inline: 'center' });
});
