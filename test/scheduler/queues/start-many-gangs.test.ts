import { expect, test } from 'vitest';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { QueuedPod } from '#shared/decide/queues/queued-pod.ts';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { createLog } from '#shared/runtime/log.ts';
import { StartGangs } from '#scheduler/queues/start-gangs.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const GANGS = 1_000;

/** So many gangs whose pods all fit at once, and an API server that answers no write. */
function stageOf(size: number, namespaces: number) {
  const snapshot = emptySnapshot();
  for (let index = 0; index < 100; index += 1)
    putNode(snapshot, buildNode({ name: `node-${index}`, allocatable: { cpu: '100000', pods: '100000' } }));
  const podOf = (uid: string): QueuedPod => {
    const unplaced = { ...buildPod({ name: uid, namespace: 'shop', requests: { cpu: '1' } }), uid };
    return { uid, name: uid, namespace: 'shop', otherGates: [], unplaced } as unknown as QueuedPod;
  };
  const gangOf = (_: unknown, gang: number): WaitingPod => {
    const name = `space-${gang % namespaces}/gang-${gang}`;
    const members = () => Array.from({ length: size }, (__, index) => ({ uid: `${name}-${index}` }));
    return Object.defineProperty({ name, queue: 'q' }, 'members', { get: members }) as unknown as WaitingPod;
  };
  const { client, requests } = scriptedClient(() => new Promise(() => undefined));
  const leading = new AbortController().signal;
  const starts = new StartGangs({
    ...{ client, clock: manualClock(), snapshot, leading, pods: { get: podOf } },
    log: createLog({ component: 'scheduler', level: 'silent', format: 'json' }),
    term: { isHeld: () => true },
    letIn: () => Promise.resolve(),
  });
  const starting = Array.from({ length: GANGS }, gangOf);
  const begun = () => starting.filter(({ members = [] }) => members.some(({ uid }) => starts.isStarting(uid)));
  return { starts, starting, requests, begun, begin: () => starts.round({ starting, seeking: [] }, leading) };
}

test.each([
  ['large ones', { size: 1_000, namespaces: 1 }, { starts: 1, requests: 16 }],
  ['small ones', { size: 2, namespaces: 1 }, { starts: 8, requests: 16 }],
  ['small ones of many namespaces', { size: 2, namespaces: 100 }, { starts: 16, requests: 32 }],
  ['of one namespace, as many pods as the largest has', { size: 250, namespaces: 2 }, { starts: 8, requests: 128 }],
])('of a thousand gangs only some start at once: %s', async (_, { size, namespaces }, { starts, requests }) => {
  const stage = stageOf(size, namespaces);
  for (let pass = 0; pass < 2; pass += 1) await stage.begin();
  expect([stage.begun().length, stage.requests.length]).toEqual([starts, requests]);
  const last = stage.starting.at(-1)?.name ?? '';
  expect(stage.starts.whyNotNow(last)?.code).toBe('GangNotPlannedYet');
});

test('gangs of one namespace that do not get on leave a start to another one', async () => {
  const stage = stageOf(2, 1);
  await stage.begin();
  const other = Object.defineProperty({ name: 'other/gang', queue: 'q' }, 'members', { value: [{ uid: 'a' }] });
  await stage.starts.round({ starting: [other as unknown as WaitingPod], seeking: [] }, new AbortController().signal);
  expect(stage.starts.isStarting('a')).toBe(true);
});
