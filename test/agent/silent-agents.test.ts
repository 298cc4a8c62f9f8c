import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { expect, test } from 'vitest';
import { lendingProblem, type Reporting } from '#agent/spare.ts';
import { createApiContact } from '#agent/observe/api-server/polled.ts';
import { type HeardAgent, hearAgent, isAgentSilent } from '#shared/domain/nodes/plan-spare.ts';
import { at } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const SECOND = 1_000;
const NOW = 100 * SECOND;
const RUNNING: Reporting = { lends: true, overdueSinceMs: undefined, lastContactMs: NOW };

test.each<[string, Partial<Reporting>, string | undefined]>([
  ['is heard', {}, undefined],
  ['is not heard for some seconds', { lastContactMs: NOW - 30 * SECOND }, undefined],
  ['is cut off', { lastContactMs: NOW - 31 * SECOND }, 'the API server does not answer'],
  ['has something to write', { overdueSinceMs: NOW - 10 * SECOND }, undefined],
  ['cannot write it', { overdueSinceMs: NOW - 11 * SECOND }, 'cannot be written'],
  ['lends nothing', { lends: false, lastContactMs: 0, overdueSinceMs: 0 }, undefined],
])('an agent that %s is ready or says why not', (_, changes, problem) => {
  const wanted: unknown = problem && expect.stringContaining(problem);
  expect(lendingProblem({ ...RUNNING, ...changes }, NOW)).toEqual(wanted);
});

/** As the kubelet probes it. */
const PROBE = (() => {
  const daemonSet = parseAllDocuments(readFileSync('deploy/base/agent/daemonset.yaml', 'utf8'))[0]?.toJS() as object;
  const probe = at(daemonSet, 'spec.template.spec.containers.0.readinessProbe');
  return {
    periodMs: Number(at(probe, 'periodSeconds')) * SECOND,
    failures: Number(at(probe, 'failureThreshold') ?? 3),
  };
})();
/** The node controller looks at least so often. */
const PASS_MS = 10 * SECOND;

/** When the amounts are withdrawn, by an agent that reported and answered until 0, at the latest. */
function withdrawnAtMs(isWell: (nowMs: number) => boolean, endsAtMs = Infinity): number {
  const latest = Array.from({ length: 10 }, (_, phase) => {
    let failed = 0;
    let heard: HeardAgent | undefined;
    for (let now = -60 * SECOND; ; now += SECOND) {
      const isProbed = (now + phase * SECOND) % PROBE.periodMs === 0;
      if (isProbed) failed = isWell(now) ? 0 : failed + 1;
      const isReady = failed < PROBE.failures && now < endsAtMs;
      if ((now - phase * SECOND) % PASS_MS !== 0) continue;
      heard = hearAgent(heard, { observedAt: 0, isReady }, now);
      if (isAgentSilent(heard, { observedAt: 0, isReady }, now)) return now;
    }
  });
  return Math.max(...latest);
}

test.each<[string, () => number]>([
  ['is killed, and does not come back', () => withdrawnAtMs(() => true, SECOND)],
  ['hangs', () => withdrawnAtMs((now) => now < 0)],
  [
    'is cut off from the API server, and its kubelet is not',
    () => withdrawnAtMs((now) => lendingProblem({ ...RUNNING, lastContactMs: Math.min(now, 0) }, now) === undefined),
  ],
  [
    'may not write what it lends',
    () =>
      withdrawnAtMs((now) => lendingProblem({ ...RUNNING, lastContactMs: now, overdueSinceMs: 0 }, now) === undefined),
  ],
])('what an agent lends that %s is withdrawn within 90 seconds', (_, withdrawn) => {
  expect(withdrawn()).toBeGreaterThan(20 * SECOND);
  expect(withdrawn()).toBeLessThanOrEqual(90 * SECOND);
});

test('an agent that is relied on asks whether the API server is there, and no other does while its watches rest', async () => {
  const clock = manualClock();
  const { client, requests } = scriptedClient(() => ({ kind: 'ok', object: {}, warnings: [] }));
  const contact = createApiContact(clock);
  const { signal } = new AbortController();
  async function probes(isReliedOn: boolean, seconds: number): Promise<number> {
    const before = requests.length;
    for (let second = 0; second < seconds; second += 1) {
      await contact.probe(client, { watchedMs: undefined, isReliedOn }, signal);
      if (requests.length > before) contact.answered();
      await clock.advance(SECOND);
    }
    return requests.length - before;
  }
  contact.answered();
  expect(await probes(false, 60)).toBe(0);
  contact.answered();
  expect(await probes(true, 20)).toBe(0);
  expect(await probes(true, 5)).toBe(1);
});
