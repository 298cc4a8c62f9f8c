import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { memoryEventsSource } from '#agent/observe/cgroup/memory-cgroup.ts';
import { type AgentProcess, groupPod, startAgent } from './agent-process.ts';
import { hog, realPods, whyNoRealPods } from './real-pods.ts';
import { eventually } from '#test/build/waiting.ts';

const MIB = 1024 * 1024;
const WITHIN = 90_000;
const NOBODY = 65_534;
const reason = whyNoRealPods();

/** As in deploy/base/agent/daemonset.yaml. */
const OWN_LIMIT = { memoryBytes: 128 * MIB, cpus: 0.2 };

describe.skipIf(reason !== undefined)(`an agent within its own limits${reason ? ` (${reason})` : ''}`, () => {
  const pods = realPods('cgroupfs');
  let agent: AgentProcess | undefined;
  afterEach(async () => {
    await agent?.stop();
    agent = undefined;
  });

  test(
    'runs on 128 MiB and a fifth of a CPU as an unprivileged user, starts no process, and acts while its node starves',
    { timeout: 240_000 },
    async () => {
      const { uids, layout, kubepods, limit, limitPod, pathOf, join, start } = pods();
      const [ownUid = '', hogUid = ''] = uids;
      const tasks = `${layout.pids ?? ''}/${pathOf(ownUid)}`;
      const hits = memoryEventsSource(layout, pathOf(ownUid));
      limit(700 * MIB);
      limitPod(ownUid, OWN_LIMIT);
      const flags = [`--path-kubepods=${kubepods}`, '--warm-up-ms=0', '--cross-check-tolerance-percent=50'];
      const policy = { mode: 'Enforce', evictionHard: { 'allocatableMemory.available': '300Mi' } };
      agent = await startAgent([groupPod(hogUid, 0)], flags, policy, {
        join: (pid) => join(ownUid, pid),
        userId: NOBODY,
      });
      const { api, child, url } = agent;
      const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
      await eventually(async () => expect(await metrics()).toContain('plimsoll_source_agrees{'), WITHIN);
      expect(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8')).toMatch(/^Uid:\s+65534\s/m);

      // From here on one more task, be it a child or a thread, would be refused and counted.
      writeFileSync(`${tasks}/pids.max`, readFileSync(`${tasks}/pids.current`, 'utf8'));
      // The kernel may kill a second process before the first has returned its memory; that must not be the agent.
      start(hogUid, hog(10, 300));
      const greedy = start(hogUid, hog(2000, 300));
      const [, signal] = (await once(greedy, 'exit')) as [number | null, NodeJS.Signals | null];
      expect(signal).toBe('SIGKILL');
      await eventually(
        async () => expect(await metrics()).toMatch(/allocatableMemory.available"} (?:[4-6]\d|7[01])\d{7}\n/),
        WITHIN,
      );

      const evictions = api.writes.filter(({ path }) => path.endsWith('/eviction'));
      expect(evictions.map(({ body }) => body['deleteOptions'])).toEqual([
        { preconditions: { uid: hogUid }, gracePeriodSeconds: 1 },
      ]);
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      expect(hits.read()).toMatchObject({ kind: 'reading', value: { oomKills: 0 } });
      hits.close();
      expect(readFileSync(`${tasks}/pids.events`, 'utf8')).toContain('max 0');
    },
  );
});
