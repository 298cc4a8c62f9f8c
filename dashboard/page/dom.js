/** Builds elements. Text is only ever set as text, so nothing that a tenant wrote can become markup. */

const SVG = 'http://www.w3.org/2000/svg';

/** An element with classes, and children that are elements or text; `undefined` children are left out. */
export function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== undefined && child !== ''));
  return node;
}

export function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

export function link(href, className, text) {
  const node = element('a', className, text);
  node.href = href;
  return node;
}

/** A table with a caption for screen readers; columns are `[class, title]`, rows are lists of `[class, content]`. */
export function table(caption, columns, rows) {
  const head = element('tr', '', ...columns.map(([className, title]) => header(className, title)));
  const body = element('tbody', '', ...rows.map((cells) => tableRow(columns, cells)));
  const scroll = element(
    'div',
    'scroll',
    element('table', '', element('caption', '', caption), element('thead', '', head), body),
  );
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'region');
  scroll.setAttribute('aria-label', caption);
  return scroll;
}

/** A row; on a narrow screen each cell shows the title of its column. */
export function tableRow(columns, cells) {
  const row = element('tr', '');
  cells.forEach(([className, content], index) => {
    const cell = element('td', className, content ?? '–');
    cell.dataset.title = columns[index]?.[1] ?? '';
    row.append(cell);
  });
  return row;
}

export function header(className, title) {
  const cell = element('th', className, title);
  cell.scope = 'col';
  return cell;
}

/** A panel with a heading, as a landmark of that name. */
export function panel(title, ...children) {
  const heading = element('h2', '', title);
  const section = element('section', 'panel', heading, ...children);
  section.setAttribute('aria-label', title);
  return section;
}

export function empty(text) {
  return element('p', 'empty', text);
}

/** How much is used, and the line that must not be crossed. */
export function bar(usedRatio, lineRatio, label) {
  const svg = shape('svg', {
    class: 'bar',
    viewBox: '0 0 1000 10',
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': label,
  });
  svg.append(shape('rect', { class: 'hull', width: 1000, height: 10 }));
  svg.append(shape('rect', { class: 'used', width: usedRatio * 1000, height: 10 }));
  if (lineRatio !== undefined && lineRatio !== null) {
    const x = lineRatio * 1000;
    svg.append(shape('line', { class: 'mark', x1: x, x2: x, y1: 0, y2: 10, 'vector-effect': 'non-scaling-stroke' }));
  }
  return svg;
}
