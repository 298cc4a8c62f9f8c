import { describe, expect, test } from 'vitest';
import { nodeView } from '#dashboard/views/node-view.ts';
import { redactNode } from '#dashboard/views/redact.ts';
import type { NodeView } from '#dashboard/views/view.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';

const AT = '2026-01-01T12:00:00Z';

/** What a user who sees the pods of team-a, et and web reads as cause of an avoid entry of theirs. */
function causeOf(cause: string): string | undefined {
  const owner = { namespace: 'team-a', kind: 'ReplicaSet', name: 'web' };
  const spec = { avoid: [{ owner, until: AT, cause }] };
  const pressure = decodeNodePressure({ metadata: { name: 'node-1' }, spec, status: { observedAt: AT } });
  const node = nodeView(pressure, Date.parse(AT)) as NodeView;
  return redactNode(node, (namespace) => ['team-a', 'et', 'web', 'b'].includes(namespace)).avoided[0]?.cause;
}

describe('the cause of an avoid entry', () => {
  test.each([
    ['pods of team-a/ReplicaSet/web return', 'pods of team-a/ReplicaSet/web return'],
    ['preempted by team-b/ReplicaSet/web, 3 times', 'preempted by an owner of another namespace, 3 times'],
    ['preempted by team-b/web.', 'preempted by a pod of another namespace.'],
    ['team-b/StatefulSet/et/web', 'an owner of another namespace'],
    ['as plimsoll.dev/evict asks', 'as plimsoll.dev/evict asks'],
    ['team-a/web displaced (team-c/b/web)', 'team-a/web displaced (an owner of another namespace)'],
  ])('%s', (cause, shown) => {
    expect(causeOf(cause)).toBe(shown);
  });
});
