/** Removals of pods, pressure and problems of all nodes, the newest first. */
import { element, empty, link, panel } from './dom.js';
import { KINDS, timeOrDay } from './format.js';

export function timelinePage() {
  const list = element('ol', 'timeline');
  const nothing = empty(
    'No removal of a pod and no pressure is known: Events last an hour, records of removed pods a week.',
  );
  const section = panel('Removed pods, pressure and problems', nothing, list);
  return {
    element: element('div', 'stack', section),
    title: 'Timeline',
    render({ timeline, now }) {
      nothing.hidden = timeline.length > 0;
      list.replaceChildren(...timeline.map((entry) => entryItem(entry, now)));
    },
  };
}

function entryItem({ at, kind, isDryRun, about, node, reason, why, from, count }, now) {
  const time = element('time', '', timeOrDay(at, now));
  time.dateTime = new Date(at).toISOString();
  const head = element('div', 'entry-head', element('span', `kind kind-${kind}`, KINDS[kind] ?? kind));
  if (isDryRun) head.append(element('span', 'badge', 'dry run'));
  head.append(element('b', 'pod', about === 'Pod' ? 'a pod of another namespace' : about));
  if (node !== '' && !about.startsWith('Node '))
    head.append(element('span', 'quiet', 'on '), link(`#/nodes/${encodeURIComponent(node)}`, '', node));
  if (count > 1) head.append(element('span', 'badge', `${count} times`));
  const text = element('p', '', why);
  const source = [reason, from].filter((part) => part !== '').join(' · ');
  return element('li', '', time, element('div', '', head, text, element('p', 'quiet small', source)));
}
