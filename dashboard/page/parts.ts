/** Parts that all pages share. Text is always bound as text, so tenant input can never become markup. */
import { html, nothing, svg, type TemplateResult } from 'lit-html';
import type { ConditionView } from '#dashboard/views/condition.ts';
import type { Shown } from './context.ts';
import { age, dateTime, percent, type ShownState, STATES } from './format.ts';

/** The class and the title; a list that is sorted has the name of the column, too. */
export type Column = readonly [className: string, title: string, name?: string];
/** The class and the content; a dash without content. */
export type Cell = readonly [className: string, content: Shown | number | readonly Shown[] | undefined];
export type Row = readonly Cell[];

/** A panel with a heading, as a landmark of that name. */
export function panel(title: string, ...children: readonly (Shown | readonly Shown[])[]): TemplateResult {
  return html`<section class="panel" aria-label=${title}>
    <h2>${title}</h2>
    ${children}
  </section>`;
}

export function empty(text: string): TemplateResult {
  return html`<p class="empty">${text}</p>`;
}

/** A table with a caption for screen readers. */
export function table(caption: string, columns: readonly Column[], rows: readonly Row[]): TemplateResult {
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
export function tableSection(title: string, columns: readonly Column[], rows: readonly Row[], caption = title): Shown {
  if (rows.length === 0) return nothing;
  return html`<h3>${title}</h3>
    ${table(caption, columns, rows)}`;
}

/** On a narrow screen each cell shows the title of its column. */
export function tableCells(columns: readonly Column[], cells: Row): readonly TemplateResult[] {
  return cells.map(
    ([className, content], index) =>
      html`<td class=${className} data-title=${columns[index]?.[1] ?? ''}>${content ?? '–'}</td>`,
  );
}

/** Date, time and the reader's time zone, with the age. */
export function moment(at: number | undefined, now: number): TemplateResult {
  if (at === undefined) return html`<span class="quiet">–</span>`;
  const iso = new Date(at).toISOString();
  return html`<time datetime=${iso} title=${iso}>${dateTime(at)} <span class="quiet">(${age(at, now)})</span></time>`;
}

/** The used share, and the line that must not be crossed. */
export function bar(usedRatio: number, lineRatio: number | undefined, label: string): TemplateResult {
  const line = lineRatio === undefined ? nothing : mark('mark', lineRatio);
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="hull" width="1000" height="10"></rect>
    <rect class="used" width=${usedRatio * 1000} height="10"></rect>
    ${line}
  </svg>`;
}

/** A bar of what is used and what may be added to it, with marks, all as shares of the bar; `marks` by class name. */
export function markedBar(
  label: string,
  { used, added }: { readonly used: number; readonly added: number },
  marks: readonly (readonly [className: string, ratio: number | undefined])[],
): TemplateResult {
  const [width, rest] = [used * 1000, Math.min(added, 1 - used) * 1000];
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="hull" width="1000" height="10"></rect>
    <rect class="used" width=${width} height="10"></rect>
    <rect class="pending" x=${width} width=${rest} height="10"></rect>
    ${marks.map(([className, ratio]) => (ratio === undefined ? nothing : mark(`mark mark-${className}`, ratio)))}
  </svg>`;
}

/** What the colours of marked bars mean, each as `[class name, meaning]`. */
export function legend(entries: readonly (readonly [className: string, meaning: string])[]): TemplateResult {
  return html`<ul class="legend small" aria-label="Legend">
    ${entries.map(([name, title]) => html`<li><span class="swatch swatch-${name}" aria-hidden="true"></span>${title}</li>`)}
  </ul>`;
}

/** A vertical line across a bar. */
export function mark(className: string, ratio: number): TemplateResult<2> {
  const x = ratio * 1000;
  return svg`<line class=${className} x1=${x} x2=${x} y1="0" y2="10" vector-effect="non-scaling-stroke"></line>`;
}

/** A bar with its share in figures. */
export function meter(usedRatio: number, lineRatio: number | undefined, label: string, state = ''): TemplateResult {
  return html`<div class="meter ${state}">
    ${bar(usedRatio, lineRatio, label)}<span class="small">${percent(usedRatio)}</span>
  </div>`;
}

export function badge(text: string, className = ''): TemplateResult {
  return html`<span class="badge ${className}">${text}</span>`;
}

/** The mode of a policy, a threshold or an agent. */
export function modeText(mode: string): string {
  return mode === 'Enforce' ? 'Enforce' : 'Dry run';
}

export function stateText(state: ShownState): TemplateResult {
  const { label, mark: sign } = STATES[state];
  return html`<span class="state"><span class="mark-text" aria-hidden="true">${sign}</span> ${label}</span>`;
}

export function nodeLink(name: string): TemplateResult {
  return html`<a href=${`#/nodes/${encodeURIComponent(name)}`}>${name}</a>`;
}

/** For `namespace/pod`: a link to the namespace, and one to the pod. */
export function podLink(name: string): Shown {
  if (name === '') return html`<span class="quiet">a pod of another namespace</span>`;
  const [namespace = '', ...rest] = name.split('/');
  if (rest.length === 0) return name;
  const own = rest.join('/');
  return html`<span class="pod"
    ><a href=${`#/namespaces/${encodeURIComponent(namespace)}`}>${namespace}</a>/${
      rest.length === 1 ? html`<a href=${podAddress(name)}>${own}</a>` : own
    }</span
  >`;
}

/** The page of a pod, or of the controller of that name whose pods were refused. */
export function podAddress(name: string): string {
  return `#/pods/${name.split('/').map(encodeURIComponent).join('/')}`;
}

export function queueLink(name: string): TemplateResult {
  return html`<a href=${`#/queues?text=${encodeURIComponent(name)}`}>${name}</a>`;
}

/** Conditions that report a problem, as a list. */
export function troubleList(conditions: readonly ConditionView[]): Shown {
  const wrong = conditions.filter(({ isTrouble }) => isTrouble);
  if (wrong.length === 0) return nothing;
  return html`<ul class="troubles">
    ${wrong.map(({ type, reason, message }) => html`<li><b>${type}: ${reason}</b> ${message}</li>`)}
  </ul>`;
}

/** The fields that filter a list. */
export function filters(label: string, ...fields: readonly TemplateResult[]): TemplateResult {
  return html`<form
    class="filters"
    role="search"
    aria-label=${label}
    @submit=${(event: Event) => event.preventDefault()}
  >
    ${fields}
  </form>`;
}

/** A labelled filter field; `change` gets its value. */
export function field(label: string, value: string, change: (value: string) => void): TemplateResult {
  return html`<label class="field"
    ><span>${label}</span
    ><input
      type="search"
      autocomplete="off"
      .value=${value}
      @input=${(event: Event) => change((event.target as HTMLInputElement).value)}
  /></label>`;
}

/** What a field of a submitted form holds. */
export function written({ target }: SubmitEvent, name: string): string {
  const value = new FormData(target as HTMLFormElement).get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** The value and the text. */
export type Option = readonly [value: string, text: string];

/** A labelled choice. */
export function choice(
  label: string,
  value: string,
  options: readonly Option[],
  change: (value: string) => void,
): TemplateResult {
  return html`<label class="field"
    ><span>${label}</span
    ><select @change=${(event: Event) => change((event.target as HTMLSelectElement).value)}>
      ${options.map(([name, text]) => html`<option value=${name} ?selected=${name === value}>${text}</option>`)}
    </select></label
  >`;
}
