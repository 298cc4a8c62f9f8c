import { describe, expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { MAX_CHILDREN } from '#shared/domain/queue/child-queues.ts';
import { plainQueue } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { findQueue, type QueueQuestion } from '#shared/domain/queue/find-queue.ts';

const forTeam = (team: string) => prepareSelector({ matchLabels: new Map([['team', team]]), matchExpressions: [] });
const tree = createQueueTree([
  ...['a', 'also-a', 'b', 'parent'].map((name) => plainQueue(name)),
  plainQueue('child', 'parent'),
  plainQueue('lost', 'missing'),
  plainQueue('round', 'about'),
  plainQueue('about', 'round'),
  ...['teams', 'full'].map((name) => ({ ...plainQueue(name), childTemplate: { guaranteed: new Map() } })),
  { ...plainQueue('lost-teams', 'missing'), childTemplate: { guaranteed: new Map() } },
  plainQueue('teams.made', 'teams'),
  plainQueue('teams.taken'),
  plainQueue('teams.parted', 'teams'),
  plainQueue('part', 'teams.parted'),
  ...Array.from({ length: MAX_CHILDREN }, (_, index) => plainQueue(`full.ns-${index}`, 'full')),
]);
const directory = {
  tree,
  selectors: new Map([
    ...(['also-a', 'a', 'parent', 'lost'] as const).map((name) => [name, forTeam('a')] as const),
    ['b', forTeam('b')],
    ...(['teams', 'full', 'teams.made', 'lost-teams'] as const).map((name) => [name, forTeam(name)] as const),
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

  const team = (name: string) => ({ namespaceLabels: new Map([['team', name]]) });
  test.each<[string, Partial<QueueQuestion>, string]>([
    ['the queue that was made for its namespace', { namespace: 'made', ...team('teams') }, 'teams.made'],
    ['the same, if a label names the parent', { namespace: 'made', label: 'teams', ...team('teams') }, 'teams.made'],
    ['the same, if the namespace does', { namespace: 'made', namespaceQueue: 'teams' }, 'teams.made'],
    ['none, until one is made', { namespace: 'new', ...team('teams') }, 'QueueNotMade'],
    ['none, if the template is not for its namespace', { namespace: 'new', label: 'teams' }, 'NamespaceNotAdmitted'],
    ['none, if a label names that of another one', { namespace: 'new', label: 'full.ns-1' }, 'NamespaceNotAdmitted'],
    ['none, if another queue has that name', { namespace: 'taken', ...team('teams') }, 'ChildNameTaken'],
    ['none, if that queue has others below it', { namespace: 'parted', ...team('teams') }, 'QueueHasChildren'],
    ['none, if there are 500', { namespace: 'new', ...team('full') }, 'TooManyChildren'],
    ['one of the 500', { namespace: 'ns-7', ...team('full') }, 'full.ns-7'],
    ['none, if the parent is not part of the tree', { label: 'lost-teams', ...team('lost-teams') }, 'QueueDetached'],
  ])('with a template, it is %s (S2-34)', (_, question, expected) => {
    expect(ask(question)).toBe(expected);
  });
});
