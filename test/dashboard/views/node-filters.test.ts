import { expect, test } from 'vitest';
import { shownState } from '#dashboard/page/format.ts';
import { selectedNodes } from '#dashboard/page/node-filters.ts';
import { nodeSummary, nodeWithoutAgent } from '#dashboard/views/node-view.ts';
import type { NodeSummary } from '#dashboard/views/view.ts';

function node(name: string, fields: Partial<NodeSummary>): NodeSummary {
  return { ...nodeSummary(nodeWithoutAgent(name)), state: 'Far', mode: 'Enforce', ...fields };
}

const NODES = [
  node('fine', { headroomRatio: 0.1 }),
  node('fine-dry-run', { mode: 'DryRun', headroomRatio: 0.01 }),
  node('near', { state: 'Near', headroomRatio: 0.05 }),
  node('soft', { state: 'Soft', headroomRatio: -0.01 }),
  node('soft-dry-run', { state: 'Soft', mode: 'DryRun', headroomRatio: -0.02 }),
  node('hard-dry-run', { state: 'Hard', mode: 'DryRun', headroomRatio: -0.1 }),
  node('trouble', { troubles: ['PoliciesRead'], headroomRatio: 0.5 }),
  node('no-agent', { state: 'NoAgent', mode: '' }),
];

function order(query: string): readonly string[] {
  const known = new Map(NODES.map((each) => [each.name, each]));
  return selectedNodes(known, new URLSearchParams(query)).map(({ name }) => name);
}

test('a hard threshold comes before a soft one before the rest, in every mode', () => {
  expect(order('')).toEqual([
    'hard-dry-run',
    'soft',
    'soft-dry-run',
    'near',
    'fine',
    'trouble',
    'fine-dry-run',
    'no-agent',
  ]);
});

test('by state: what needs attention comes before what is fine', () => {
  const sorted = order('sort=state');
  expect(sorted.slice(0, 5)).toEqual(['hard-dry-run', 'soft-dry-run', 'soft', 'near', 'trouble']);
  expect(sorted.slice(-2)).toEqual(['fine-dry-run', 'fine']);
});

test('a condition that reports a problem is no fine node, and filters say so', () => {
  expect(NODES.map(shownState)).toContain('Trouble');
  expect([order('state=Trouble'), order('state=Far').includes('trouble')]).toEqual([['trouble'], false]);
});

test('an unknown column sorts as usual', () => {
  for (const column of ['constructor', 'toString', 'x']) expect(order(`sort=${column}`)).toEqual(order(''));
});
