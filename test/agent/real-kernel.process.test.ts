import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { memoryEventsSource } from '#agent/observe/cgroup/memory-cgroup.ts';
import { createPodScanner } from '#agent/observe/node/kernel-pods.ts';
import { type AgentProcess, groupPod, startAgent } from './agent-process.ts';
import { hog, realPods, whyNoRealPods } from './real-pods.ts';
import { eventually } from '#test/build/waiting.ts';

const MIB = 1024 * 1024;
const WITHIN = 60_000;
const TEST = { timeout: 360_000 };
const reason = whyNoRealPods();
const READ = expect.objectContaining({ type: 'PoliciesRead', status: 'True' }) as object;
const POLICIES_READ = {
  body: { status: expect.objectContaining({ conditions: expect.arrayContaining([READ]) as object }) as object },
};

describe.skipIf(reason !== undefined)(
  `real processes in real cgroups (${reason ?? 'below a group of all pods of their own, on this machine'})`,
  () => {
    describe.each(['cgroupfs', 'systemd'] as const)('named by the %s driver', (driver) => {
      const pods = realPods(driver);
      let agent: AgentProcess | undefined;

      afterEach(async () => {
        await agent?.stop();
        agent = undefined;
      });

      test('a group that is removed while its descriptors are open is absent, not zero', () => {
        const { uids, layout, remove } = pods();
        const [uid = ''] = uids;
        const scanner = createPodScanner(layout);
        scanner.follow([{ uid, qos: 'Burstable' }]);
        expect(scanner.readMemory(uid)?.kind).toBe('reading');
        remove();
        expect(scanner.readMemory(uid)?.kind).toBe('absent');
        scanner.close();
      });

      test(
        'the agent evicts the hog by its UID before the kernel kills, and leaves the quiet pod alone',
        TEST,
        async () => {
          const { uids, layout, kubepods, limit, pathOf, start } = pods();
          const [hogUid = '', quietUid = ''] = uids;
          limit(600 * MIB);
          const flags = [`--path-kubepods=${kubepods}`, '--warm-up-ms=0', '--period-status-ms=1000'];
          const policy = { mode: 'Enforce', evictionHard: { 'allocatableMemory.available': '200Mi' } };
          agent = await startAgent([groupPod(hogUid, 0), groupPod(quietUid, 1000)], flags, policy);
          const { api } = agent;
          start(quietUid, hog(32, 1000));
          await eventually(() => expect(JSON.stringify(api.writes.at(-1)?.body)).toContain(quietUid), WITHIN);
          const greedy = start(hogUid, hog(3000, 100));
          const exit = once(greedy, 'exit');
          api.onEvicted = () => void greedy.kill('SIGTERM');
          expect(await exit).toEqual([null, 'SIGTERM']);
          const evictions = api.writes.filter(({ path }) => path.endsWith('/eviction'));
          expect(evictions.map(({ body }) => body['deleteOptions'])).toEqual([
            { preconditions: { uid: hogUid }, gracePeriodSeconds: 1 },
          ]);
          const events = memoryEventsSource(layout, pathOf(hogUid));
          expect(events.read()).toMatchObject({ kind: 'reading', value: { oomKills: 0 } });
          events.close();
        },
      );

      test('the settings without any policy end the hog before it reaches the limit of all pods', TEST, async () => {
        const { uids, kubepods, limit, start } = pods();
        const [hogUid = ''] = uids;
        limit(700 * MIB);
        const flags = [`--path-kubepods=${kubepods}`, '--warm-up-ms=0', '--mode=Enforce'];
        agent = await startAgent([groupPod(hogUid, 0)], flags);
        const { api } = agent;
        // The agent has started when it has read pods and policies: before that, nothing is evicted.
        await eventually(() => expect(api.writes).toContainEqual(expect.objectContaining(POLICIES_READ)), WITHIN);
        const greedy = start(hogUid, hog(3000, 100));
        const exit = once(greedy, 'exit');
        api.onEvicted = () => void greedy.kill('SIGTERM');
        expect(await exit).toEqual([null, 'SIGTERM']);
        const eviction = { uid: hogUid, signal: 'allocatableMemory.available', stage: 'severe', outcome: 'evicted' };
        const status = expect.objectContaining({ evictions: [expect.objectContaining(eviction)] }) as object;
        await eventually(
          () => expect(api.writes).toContainEqual(expect.objectContaining({ body: { status } })),
          WITHIN,
        );
      });
    });
  },
);
