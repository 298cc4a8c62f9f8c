/** Refusals and removals of pods, pressure and problems, newest first. */
import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { TimelineEntry } from '#dashboard/views/view.ts';
import type { Context, Page, Shown } from './context.ts';
import { KINDS } from './format.ts';
import { badge, choice, empty, field, filters, moment, nodeLink, type Option, panel, podLink } from './parts.ts';

const NONE =
  'No refused or removed pod and no pressure is recorded. Events last an hour, records of removed pods a week.';
const ANY_KIND: Option = ['', 'Any kind'];

export function timelinePage(): Page {
  return { title: 'Timeline', render: timelineView };
}

function timelineView({ timeline, params, setParams, now }: Context): Shown {
  const of = (name: string): string => params.get(name) ?? '';
  const set = (name: string) => (value: string) => setParams({ [name]: value });
  const shown = selected(timeline, params);
  return html`<div class="stack">
    ${panel(
      'Refused and removed pods, pressure and problems',
      filters(
        'Filter entries',
        field('Text', of('text'), set('text')),
        choice('Kind', of('kind'), [ANY_KIND, ...Object.entries(KINDS)], set('kind')),
        field('Namespace', of('namespace'), set('namespace')),
      ),
      timeline.length > 0 && shown.length === 0 ? empty('No entry matches the filters.') : nothing,
      entryList(shown, now),
    )}
  </div>`;
}

function selected(timeline: readonly TimelineEntry[], params: URLSearchParams): readonly TimelineEntry[] {
  const [kind = '', namespace = '', text = ''] = ['kind', 'namespace', 'text'].map((name) =>
    (params.get(name) ?? '').trim(),
  );
  return timeline.filter(
    (entry) =>
      (kind === '' || entry.kind === kind) &&
      (namespace === '' || entry.namespace === namespace) &&
      [entry.about, entry.node, entry.reason, entry.why, entry.from]
        .join(' ')
        .toLowerCase()
        .includes(text.toLowerCase()),
  );
}

/** Timeline entries as a list; a sentence if there are none. */
export function entryList(entries: readonly TimelineEntry[], now: number): Shown {
  if (entries.length === 0) return empty(NONE);
  return html`<ol class="timeline">
    ${repeat(entries, keyOf, (entry) => entryItem(entry, now))}
  </ol>`;
}

function keyOf({ at, kind, about, node, reason, from }: TimelineEntry, index: number): string | number {
  return about === 'Pod' ? index : [at, kind, about, node, reason, from].join('|');
}

function entryItem(entry: TimelineEntry, now: number): Shown {
  const { at, kind, isDryRun, about, node, reason, why, from, count } = entry;
  const source = [reason, from].filter((part) => part !== '').join(' · ');
  const where =
    node === '' || about.startsWith('Node ') ? nothing : html`<span class="quiet">on</span> ${nodeLink(node)}`;
  return html`<li>
    ${moment(at, now)}
    <div>
      <div class="entry-head">
        <span class="kind kind-${kind}">${KINDS[kind]}</span>
        ${isDryRun ? badge('dry run') : nothing} <b class="pod">${subject(about)}</b> ${where}
        ${count > 1 ? badge(`${count} times`) : nothing}
      </div>
      <p>${why}</p>
      <p class="quiet small">${source}</p>
    </div>
  </li>`;
}

function subject(about: string): Shown {
  if (about === 'Pod') return 'a pod of another namespace';
  const [kind = '', name = ''] = about.split(' ');
  return name.includes('/') ? html`${kind} ${podLink(name)}` : about;
}
