import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** Three teams below the root: one that waits, one that has lent its guarantee, one that a budget keeps from its share. */
export function generatedQueues(now: number): readonly KubeObject[] {
  return [
    queue('root', { capacity: { cpu: '12' } }, { deserved: { cpu: '12' }, used: { cpu: '11' }, pending: { cpu: '4' } }),
    queue(
      'research',
      { weight: 2, guaranteed: { cpu: '4' }, max: { cpu: '10' } },
      {
        deserved: { cpu: '8' },
        used: { cpu: '5' },
        pending: { cpu: '3' },
        waitingPods: 3,
        oldestWaiting: new Date(now - 12 * MINUTE_MS).toISOString(),
        conditions: [
          condition('Ready', 'True', 'Ready', 'the queue lets pods in'),
          condition('ReclaimBlocked', 'True', 'BudgetSpent', 'PodDisruptionBudget team-2/web allows no disruption'),
        ],
        evicted: [
          evicted('team-1/report', now - 2 * MINUTE_MS, 'makes room for team-0/train'),
          evicted('team-2/thumbnails', now - MINUTE_MS, 'makes room for team-0/train'),
        ],
      },
    ),
    queue(
      'training',
      { parent: 'research' },
      { deserved: { cpu: '8', memory: '16Gi' }, used: { cpu: '5', memory: '6Gi' } },
    ),
    queue(
      'web',
      { guaranteed: { cpu: '2' }, preemption: { policy: 'Fence' } },
      {
        deserved: { cpu: '4' },
        used: { cpu: '6' },
        conditions: [condition('SettingsEffective', 'False', 'NoEffect', 'x')],
      },
    ),
  ];
}

function queue(name: string, spec: object, status: object): KubeObject {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name }, spec, status };
}

function condition(type: string, status: string, reason: string, message: string): object {
  return { type, status, reason, message };
}

function evicted(pod: string, at: number, because: string): object {
  return { pod, uid: pod, node: 'node-001', decision: 'd', at: new Date(at).toISOString(), code: 'Reclaim', because };
}
