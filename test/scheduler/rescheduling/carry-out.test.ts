import { faultLog } from '#shared/runtime/fault-log.ts';
import { describe, expect, test } from 'vitest';
import type { Move } from '#shared/domain/rescheduling/pass.ts';
import { runPass } from '#shared/domain/rescheduling/run-pass.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { createSnapshot, putNode, removeNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod, removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { carryOutMove, moveId } from '#scheduler/rescheduling/carry-out.ts';
import { buildNode } from '#test/build/cluster.ts';
import { MOVE_RULES, NOON, replica, UNDERUSED } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const pressure = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressure',
  metadata: { name: 'a', resourceVersion: '7' },
  spec: {},
};

/** A cluster in which one move is planned, and an API server that answers everything with `answers` and keeps what was asked. */
function scene(answers: (path: string) => object = () => ({ kind: 'ok', object: pressure })) {
  const nodes = ['a', 'b'].map((name) => buildNode({ name, allocatable: SIZE }));
  const pods = Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a' }));
  const snapshot = createSnapshot({ nodes, pods });
  for (const node of ['a', 'b']) {
    const facts = { isEnforced: true, pressure: undefined, observedAt: NOON, avoid: [] };
    snapshot.pressures.set(node, { ...facts, node, overRequest: new Set(), evicting: new Set() });
  }
  const { moves } = finish(runPass(snapshot, UNDERUSED, { now: NOON, memory: NO_MEMORY, rules: MOVE_RULES, most: 1 }));
  const asked: KubeRequest[] = [];
  const request = (each: KubeRequest) => {
    asked.push(each);
    return Promise.resolve(answers(each.path));
  };
  const client = { request } as unknown as KubeClient;
  const failures: string[] = [];
  const warn = ({ object, message }: { object: string; message: string }) =>
    void failures.push(`${object}: ${message}`);
  const avoidFaults = faultLog({ warn, info: () => undefined } as never, 'Avoid entry not written');
  const ports = { client, snapshot, now: () => NOON, policy: 'even', avoidFaults };
  const move = moves[0] as Move;
  const carryOut = (change: Partial<Move> = {}) =>
    carryOutMove({ ...move, ...change }, ports, new AbortController().signal);
  return { move, snapshot, asked, failures, carryOut };
}

describe('carryOutMove', () => {
  test('keeps the owner away from the node for ten minutes, then evicts the pod that was judged, with reason and decision (S3-25, S3-31)', async () => {
    const { move, asked, carryOut } = scene();
    expect(await carryOut()).toEqual({ kind: 'evicted' });
    expect(asked.map(({ method = 'GET', path }) => `${method} ${path.split('/').slice(-3).join('/')}`)).toEqual([
      'GET v1alpha1/nodepressures/a',
      'PATCH v1alpha1/nodepressures/a',
      'POST pods/p0/eviction',
    ]);
    const owner = { namespace: 'default', kind: 'ReplicaSet', name: 'web', uid: 'owner-web' };
    const until = new Date(NOON + 600_000).toISOString();
    expect(asked[1]?.body).toMatchObject({
      metadata: { resourceVersion: '7' },
      spec: {
        avoid: [{ owner, until, hard: false, cause: expect.stringContaining('ReschedulingPolicy even') as string }],
      },
    });
    expect(asked[2]?.body).toMatchObject({
      metadata: {
        annotations: {
          'plimsoll.dev/eviction-reason': 'NodeOverTarget',
          'plimsoll.dev/eviction-decision': moveId(move),
        },
      },
      deleteOptions: { preconditions: { uid: 'uid-p0' } },
    });
  });

  test('keeps the owner of a pod that fails away for the hour that the move says (S3-31)', async () => {
    const { asked, carryOut } = scene();
    await carryOut({ avoidForMs: 3_600_000 });
    const until = new Date(NOON + 3_600_000).toISOString();
    expect(asked[1]?.body).toMatchObject({ spec: { avoid: [{ until }] } });
  });

  test.each<[string, (given: ReturnType<typeof scene>) => void, string]>([
    [
      'the pod is gone',
      ({ snapshot, move }) => {
        removePod(snapshot, move.pod.placed.pod);
      },
      'gone or terminating',
    ],
    [
      'the pod terminates',
      ({ snapshot, move }) => {
        putPod(snapshot, { ...move.pod.placed.pod, deletion: { at: NOON, gracePeriodSeconds: 30 } });
      },
      'gone or terminating',
    ],
    [
      'the expected node is gone',
      ({ snapshot }) => {
        removeNode(snapshot, 'b');
      },
      'no longer accepts pods',
    ],
    [
      'the expected node was cordoned',
      ({ snapshot }) => {
        putNode(snapshot, buildNode({ name: 'b', allocatable: SIZE, isUnschedulable: true }));
      },
      'no longer accepts pods',
    ],
    [
      'another pod has taken the room',
      ({ snapshot }) => {
        putPod(snapshot, replica({ name: 'big', node: 'b', requests: { cpu: '9500m' } }));
      },
      'have taken the room',
    ],
  ])('nothing is asked for once %s (S3-33)', async (_, happens, sentence) => {
    const given = scene();
    happens(given);
    expect(await given.carryOut()).toMatchObject({
      kind: 'outdated',
      message: expect.stringContaining(sentence) as string,
    });
    expect(given.asked).toEqual([]);
  });

  test('where the avoid entry cannot be written the pod is evicted all the same, and that is said', async () => {
    const conflict = { kind: 'conflict', message: 'the object has been modified' };
    const isPatch = (asked: readonly KubeRequest[]) => asked.at(-1)?.method === 'PATCH';
    const given: ReturnType<typeof scene> = scene(() =>
      isPatch(given.asked) ? conflict : { kind: 'ok', object: pressure },
    );
    expect(await given.carryOut()).toEqual({ kind: 'evicted' });
    expect(given.failures).toEqual(['a: the object has been modified']);
  });

  test('a budget that is spent is the answer of the API server, and the move was not made', async () => {
    const spent = {
      kind: 'tooManyRequests',
      message: 'Cannot evict pod',
      details: { causes: [{ reason: 'DisruptionBudget', message: '' }] },
    };
    const { carryOut } = scene((path) => (path.endsWith('/eviction') ? spent : { kind: 'ok', object: pressure }));
    expect(await carryOut()).toMatchObject({ kind: 'tooManyRequests', cause: 'budget' });
  });
});
