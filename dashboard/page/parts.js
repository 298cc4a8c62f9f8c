/** Parts that all pages share. Text is always bound as text, so tenant input can never become markup. */
import { html, nothing, svg } from './library/library.js';
import { age, dateTime, percent, STATES } from './format.js';

/** A panel with a heading, as a landmark of that name. */
export function panel(title, ...children) {
  return html`<section class="panel" aria-label=${title}>
    <h2>${title}</h2>
    ${children}
  </section>`;
}

export function empty(text) {
  return html`<p class="empty">${text}</p>`;
}

/** A table with a caption for screen readers; columns are `[class, title]`, rows are lists of `[class, content]`. */
export function table(caption, columns, rows) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(([className, title]) => html`<th scope="col" class=${className}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${tableCells(columns, cells)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** A table under a heading, or nothing without rows; the caption is the heading unless one is given. */
export function tableSection(title, columns, rows, caption = title) {
  if (rows.length === 0) return nothing;
  return html`<h3>${title}</h3>
    ${table(caption, columns, rows)}`;
}

/** On a narrow screen each cell shows the title of its column. */
export function tableCells(columns, cells) {
  return cells.map(
    ([className, content], index) =>
      html`<td class=${className} data-title=${columns[index]?.[1] ?? ''}>${content ?? '–'}</td>`,
  );
}

/** Date, time and the reader's time zone, with the age. */
export function moment(at, now) {
  if (at === undefined || at === null) return html`<span class="quiet">–</span>`;
  const iso = new Date(at).toISOString();
  return html`<time datetime=${iso} title=${iso}>${dateTime(at)} <span class="quiet">(${age(at, now)})</span></time>`;
}

/** The used share, and the line that must not be crossed. */
export function bar(usedRatio, lineRatio, label) {
  const line = lineRatio === undefined || lineRatio === null ? nothing : mark('mark', lineRatio);
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="hull" width="1000" height="10"></rect>
    <rect class="used" width=${usedRatio * 1000} height="10"></rect>
    ${line}
  </svg>`;
}

/** A vertical line across a bar. */
export function mark(className, ratio) {
  const x = ratio * 1000;
  return svg`<line class=${className} x1=${x} x2=${x} y1="0" y2="10" vector-effect="non-scaling-stroke"></line>`;
}

/** A bar with its share in figures. */
export function meter(usedRatio, lineRatio, label, state = '') {
  return html`<div class="meter ${state}">
    ${bar(usedRatio, lineRatio, label)}<span class="small">${percent(usedRatio)}</span>
  </div>`;
}

export function badge(text, className = '') {
  return html`<span class="badge ${className}">${text}</span>`;
}

/** The mode of a policy, a threshold or an agent. */
export function modeText(mode) {
  return mode === 'Enforce' ? 'Enforce' : 'Dry run';
}

export function stateText(state) {
  const { label, mark: sign } = STATES[state];
  return html`<span class="state"><span class="mark-text" aria-hidden="true">${sign}</span> ${label}</span>`;
}

export function nodeLink(name) {
  return html`<a href=${`#/nodes/${encodeURIComponent(name)}`}>${name}</a>`;
}

/** For `namespace/pod`: a link to the namespace, and the pod. */
export function podLink(name) {
  if (name === '') return html`<span class="quiet">a pod of another namespace</span>`;
  const [namespace, ...rest] = name.split('/');
  if (rest.length === 0) return name;
  return html`<span class="pod"
    ><a href=${`#/namespaces/${encodeURIComponent(namespace)}`}>${namespace}</a>/${rest.join('/')}</span
  >`;
}

/** Conditions that report a problem, as a list. */
export function troubleList(conditions) {
  const wrong = conditions.filter(({ isTrouble }) => isTrouble);
  if (wrong.length === 0) return nothing;
  return html`<ul class="troubles">
    ${wrong.map(({ type, reason, message }) => html`<li><b>${type}: ${reason}</b> ${message}</li>`)}
  </ul>`;
}

/** A labelled filter field; `change` gets its value. */
export function field(label, value, change) {
  return html`<label class="field"
    ><span>${label}</span
    ><input type="search" autocomplete="off" .value=${value} @input=${(event) => change(event.target.value)}
  /></label>`;
}

/** A labelled choice; `options` are `[value, text]`. */
export function choice(label, value, options, change) {
  return html`<label class="field"
    ><span>${label}</span
    ><select @change=${(event) => change(event.target.value)}>
      ${options.map(([name, text]) => html`<option value=${name} ?selected=${name === value}>${text}</option>`)}
    </select></label
  >`;
}
