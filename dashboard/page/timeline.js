/** Evictions, preemptions, kernel kills and pressure of all nodes, the newest first. */
import { element, empty, link, panel } from './dom.js';
import { KINDS, timeOfDay } from './format.js';

export function timelinePage() {
  const list = element('ol', 'timeline');
  const nothing = empty('Nothing was evicted, preempted or killed in the last hour.');
  const section = panel('Evictions, preemptions and OOM kills', nothing, list);
  return {
    element: element('div', 'stack', section),
    title: 'Timeline',
    render({ timeline }) {
      nothing.hidden = timeline.length > 0;
      list.replaceChildren(...timeline.map(entryItem));
    },
  };
}

function entryItem({ at, kind, isDryRun, about, node, reason, why, from, count }) {
  const time = element('time', '', timeOfDay(at));
  time.dateTime = new Date(at).toISOString();
  const head = element('div', 'entry-head', element('span', `kind kind-${kind}`, KINDS[kind] ?? kind));
  if (isDryRun) head.append(element('span', 'badge', 'dry run'));
  head.append(element('b', 'pod', about === 'Pod' ? 'a pod of another namespace' : about));
  if (node !== '' && !about.startsWith('Node '))
    head.append(element('span', 'quiet', 'on '), link(`#/nodes/${encodeURIComponent(node)}`, '', node));
  if (count > 1) head.append(element('span', 'badge', `${count} times`));
  const text = element('p', '', why);
  return element('li', '', time, element('div', '', head, text, element('p', 'quiet small', `${reason} · ${from}`)));
}
