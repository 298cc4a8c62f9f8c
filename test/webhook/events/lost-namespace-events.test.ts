import { expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { createLostNamespaceEvents } from '#webhook/events/cluster-events.ts';
import { selectorOf } from '#test/build/cluster.ts';

const LABELS = { tenant: 'yes', 'plimsoll.dev/priority-quota': 'enforced' };
const QUOTA = { name: 'wide', uid: 'u', namespaces: prepareSelector(selectorOf({ tenant: 'yes' })) };

function namespace(name: string, labels: Readonly<Record<string, string>> = LABELS) {
  return { name, labels: new Map(Object.entries(labels)) };
}

test('a namespace that lost its labels is reported once, also when it was deleted in between', () => {
  const notes: string[] = [];
  const observe = createLostNamespaceEvents({ record: ({ note }) => void notes.push(note.split(' ')[1] ?? '') });
  const rounds: readonly (readonly ReturnType<typeof namespace>[])[] = [
    [namespace('a'), namespace('b'), namespace('never', {})],
    [namespace('b'), namespace('never', {})],
    [namespace('a', {}), namespace('b'), namespace('never', {})],
    [namespace('a', {}), namespace('b', { tenant: 'yes' })],
    [namespace('a'), namespace('b', { tenant: 'yes' })],
    [namespace('a', { 'plimsoll.dev/priority-quota': 'enforced' })],
  ];
  const reported = rounds.map((all) => {
    observe([QUOTA], all);
    return notes.splice(0);
  });
  expect(reported).toEqual([[], [], ['a'], ['b'], [], ['a']]);
});
