import { afterEach, describe, expect, test } from 'vitest';
import { computePodsAs, podArithmetic } from '#shared/kube/decode/pod-arithmetic.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { followServerVersion } from '#shared/kube/client/server-version.ts';
import { createLog } from '#shared/runtime/log.ts';
import { eventually } from '#test/build/waiting.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const REFUSED: Outcome<unknown> = { kind: 'unreachable', message: 'connection refused' };

function ok(gitVersion: string): Outcome<unknown> {
  return { kind: 'ok', warnings: [], object: { gitVersion } };
}

function start(answers: readonly Outcome<unknown>[]) {
  let asked = 0;
  const { client } = scriptedClient(() => answers[Math.min(asked++, answers.length - 1)] ?? REFUSED);
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  return { parts: { client, clock: fastClock(10_000), log }, stop: new AbortController() };
}

describe('followServerVersion', () => {
  afterEach(() => computePodsAs('v1.36.3'));

  test.each([
    ['v1.36.3', '1.36'],
    ['v1.37.2', '1.37'],
    ['v1.38.0-alpha.1', '1.37'],
    ['v1.37.1-gke.100', '1.37'],
    ['v2.0.0', '1.37'],
    ['no version', '1.36'],
  ])('pods are computed as by an API server of %s', async (gitVersion, arithmetic) => {
    const { parts, stop } = start([ok(gitVersion)]);
    await followServerVersion(parts, stop.signal);
    expect(podArithmetic()).toBe(arithmetic);
    stop.abort();
  });

  test('an upgrade is noticed, also after an answer that could not be had', async () => {
    const { parts, stop } = start([REFUSED, ok('v1.36.3'), ok('v1.37.2')]);
    await followServerVersion(parts, stop.signal);
    await eventually(() => expect(podArithmetic()).toBe('1.37'));
    stop.abort();
  });
});
