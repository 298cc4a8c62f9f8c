import { describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { plainQueue } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { findQueue, type QueueQuestion } from '#shared/domain/queueing/find-queue.ts';

const forTeam = (team: string) => prepareSelector({ matchLabels: new Map([['team', team]]), matchExpressions: [] });
const tree = createQueueTree([
  ...['a', 'also-a', 'b', 'parent'].map((name) => plainQueue(name)),
  plainQueue('child', 'parent'),
  plainQueue('lost', 'missing'),
  ...[plainQueue('round', 'about'), plainQueue('about', 'round')],
]);
const directory = {
  tree,
  selectors: new Map([
    ...(['also-a', 'a', 'parent', 'lost'] as const).map((name) => [name, forTeam('a')] as const),
    ['b', forTeam('b')],
    ['child', prepareSelector(undefined)],
  ]),
};

function ask(more: Partial<QueueQuestion>) {
  const question = {
    label: '',
    namespace: 'shop',
    namespaceQueue: '',
    namespaceLabels: new Map([['team', 'a']]),
    ...more,
  };
  const found = findQueue(question, directory);
  return found.kind === 'queue' ? found.name : found.because.code;
}

describe('the queue of a pod', () => {
  test.each<[string, Partial<QueueQuestion>, string]>([
    ['the first by name of those that select its namespace and have no children', {}, 'a'],
    ['the one of its label, if that selects the namespace', { label: 'also-a' }, 'also-a'],
    ['none, if its label names one that does not', { label: 'b' }, 'NamespaceNotAdmitted'],
    ['the one that the namespace names, whatever that selects', { namespaceQueue: 'child' }, 'child'],
    ['the same, if the label names it too', { label: 'child', namespaceQueue: 'child' }, 'child'],
    ['none, if the label names one that does not exist', { label: 'gone' }, 'QueueNotFound'],
    ['none, if the namespace names one that does not exist', { namespaceQueue: 'gone' }, 'QueueNotFound'],
    ['none, if that one has children', { label: 'parent' }, 'QueueHasChildren'],
    ['none, if its parent does not exist', { label: 'lost' }, 'QueueDetached'],
    ['none, if its parents lead back to it', { namespaceQueue: 'round' }, 'QueueDetached'],
    ['none, if nothing selects its namespace', { namespaceLabels: new Map() }, 'NoQueue'],
  ])('is %s', (_, question, expected) => {
    expect(ask(question)).toBe(expected);
  });
});
