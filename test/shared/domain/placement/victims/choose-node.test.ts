import { describe, expect, test } from 'vitest';
import { preparePlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { type NodeCandidate, chooseNode } from '#shared/domain/placement/victims/choose-node.ts';
import { buildPod } from '#test/build/cluster.ts';

const SHIFT = 2 ** 31;

/** A candidate whose victims have these priorities and the start time of the first. */
function candidate(node: string, priorities: readonly number[], { violations = 0, start = 0 } = {}): NodeCandidate {
  const victims = priorities.map((priority, index) => {
    const pod = buildPod({ name: `${node}-${index}`, priority, ...(start === Infinity ? {} : { startedAt: start }) });
    return preparePlacedPod(pod, [], index);
  });
  const prioritySum = priorities.reduce((sum, priority) => sum + priority + SHIFT, 0);
  const topPriority = Math.max(...priorities);
  return { kind: 'candidate', node, victims, budgetViolations: violations, topPriority, prioritySum };
}

describe('chooseNode', () => {
  test.each<[string, readonly NodeCandidate[], readonly string[], string]>([
    ['one candidate needs no choice', [candidate('a', [5])], ['a'], 'onlyCandidate'],
    [
      'fewest budget violations come before low priorities',
      [candidate('a', [0], { violations: 1 }), candidate('b', [5, 5, 5])],
      ['b'],
      'fewestBudgetViolations',
    ],
    ['then the lowest top priority', [candidate('a', [5]), candidate('b', [4, 4, 4])], ['b'], 'lowestTopPriority'],
    ['then the smallest sum', [candidate('a', [5, 4]), candidate('b', [5, 3])], ['b'], 'smallestPrioritySum'],
    [
      'one more victim outweighs any priorities in the sum',
      [candidate('a', [5, -100, -100]), candidate('b', [5, 5])],
      ['b'],
      'smallestPrioritySum',
    ],
    [
      'of the lowest priority there is, only the number of victims tells',
      [candidate('a', [-SHIFT, -SHIFT]), candidate('b', [-SHIFT])],
      ['b'],
      'fewestVictims',
    ],
    [
      'then the latest start',
      [candidate('a', [5], { start: 1 }), candidate('b', [5], { start: 2 })],
      ['b'],
      'latestStart',
    ],
    [
      'a pod that has not started is the latest',
      [candidate('a', [5], { start: 1 }), candidate('b', [5], { start: Infinity })],
      ['b'],
      'latestStart',
    ],
    ['equals stay equals, by name', [candidate('b', [5]), candidate('a', [5])], ['a', 'b'], 'nodeName'],
    [
      'equals that have not started',
      [candidate('b', [5], { start: Infinity }), candidate('a', [5], { start: Infinity })],
      ['a', 'b'],
      'nodeName',
    ],
  ])('%s', (_, candidates, best, decidedBy) => {
    expect(chooseNode(candidates)).toEqual({ best, decidedBy });
  });
});
