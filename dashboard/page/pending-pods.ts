/** Pods that wait, with what they wait for. */
import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Overview, PendingPodView } from '#dashboard/pods/overview.ts';
import type { Context, Page, Shown } from './context.ts';
import { empty, moment, panel, podLink, queueLink } from './parts.ts';
import { isProblem, polled } from './polled.ts';
import type { Problem } from './stream.ts';

const MAX_SHOWN = 200;

/** The overview once it is read, or why it is not. */
export type ReadOverview = Overview | Problem | undefined;

/** A page that shows the overview; it is read again every few seconds while the page is open. */
export function overviewPage(
  title: string,
  redraw: () => void,
  view: (context: Context, overview: ReadOverview) => Shown,
): Page {
  const overview = polled<Overview>('/api/pods/overview', redraw);
  return { title, render: (context) => view(context, overview.value()), close: overview.stop };
}

/** Those that are wanted, the oldest first. */
export function pendingPanel(overview: ReadOverview, isWanted: (pod: PendingPodView) => boolean, now: number): Shown {
  const title = 'Waiting pods';
  if (overview === undefined) return panel(title, empty('Reading the pods…'));
  if (isProblem(overview)) return panel(title, html`<p class="problem">${overview.message}</p>`);
  const pods = overview.pending.filter(isWanted).sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0));
  const more = pods.length > MAX_SHOWN ? [`the oldest ${MAX_SHOWN} of ${pods.length}`] : [];
  const notes = [...more, ...overview.notes];
  return panel(
    title,
    pods.length === 0 ? empty('No pod waits.') : pendingList(pods.slice(0, MAX_SHOWN), now),
    notes.length === 0 ? nothing : html`<p class="quiet small">${notes.join('; ')}</p>`,
  );
}

function pendingList(pods: readonly PendingPodView[], now: number): Shown {
  return html`<ol class="timeline">
    ${repeat(
      pods,
      ({ pod }) => pod,
      (pod) => pendingItem(pod, now),
    )}
  </ol>`;
}

function pendingItem({ pod, createdAt, queue, requests, why }: PendingPodView, now: number): Shown {
  const where = queue === '' ? nothing : html`<span class="quiet">in queue</span> ${queueLink(queue)}`;
  return html`<li>
    ${moment(createdAt, now)}
    <div>
      <div class="entry-head"><b>${podLink(pod)}</b> ${where}</div>
      <p>${why}</p>
      ${requests === '' ? nothing : html`<p class="quiet small">requests ${requests}</p>`}
    </div>
  </li>`;
}
