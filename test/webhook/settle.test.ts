import { describe, expect, test } from 'vitest';
import type { AdmissionWorld } from '#shared/domain/admission/admission-world.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import type { PodSearch } from '#shared/domain/admission/known-pods.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { settle } from '#webhook/settle.ts';
import { buildClass, buildClassQuota, buildPolicy, buildRequest, buildWorld } from '#test/build/admission.ts';
import { buildPod, buildTerm } from '#test/build/cluster.ts';

const CLASSES = [buildClass('high', 1_000)];
const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
const FULL = buildClassQuota('q', 'high', { hard: { pods: '1' }, used: { pods: '1' } });
const ROOMY = buildClassQuota('q', 'high', { hard: { pods: '1' }, used: { pods: '0' } });
const HOLDER = buildPod({ name: 'holder', namespace: 'team-a', spec: HIGH });

const FITS = buildWorld({ classes: CLASSES, quotas: [ROOMY] });
const IS_FULL = buildWorld({ classes: CLASSES, quotas: [FULL] });
const REQUEST = buildRequest(HIGH);

function settleWith(cached: AdmissionWorld, live?: AdmissionWorld, request: PodRequest = REQUEST) {
  const asked = { live: 0, searches: [] as PodSearch[] };
  const sources = {
    world: () => cached,
    liveWorld: () => {
      asked.live += 1;
      return live === undefined ? Promise.reject(new Error('unreachable')) : Promise.resolve(live);
    },
    lookUpPods: (searches: readonly PodSearch[]) => {
      asked.searches.push(...searches);
      return Promise.resolve({ pods: [HOLDER], isPartial: false });
    },
  };
  return { answer: settle(request, sources, decideValidation), asked };
}

describe('settling a request', () => {
  test('allows from the caches at once, asking nobody', () => {
    const { answer, asked } = settleWith(FITS);
    expect([answer, asked]).toMatchObject([{ kind: 'allowed' }, { live: 0, searches: [] }]);
  });

  test('checks a refusal from cached numbers live before it is given', async () => {
    const { answer, asked } = settleWith(IS_FULL, FITS);
    expect([await answer, asked]).toMatchObject([{ kind: 'allowed' }, { live: 1, searches: [] }]);
  });

  test('checks a refusal by a cached policy live too', async () => {
    const strict = buildWorld({ classes: CLASSES, policies: [buildPolicy('p', { maxPriority: 0 })] });
    expect(await settleWith(strict, FITS).answer).toMatchObject({ kind: 'allowed' });
  });

  test('refuses what is refused live, with the pods that hold the quota', async () => {
    const { answer, asked } = settleWith(FITS, IS_FULL, buildRequest({ ...HIGH, priority: 5 }));
    expect(await answer).toMatchObject({ kind: 'refused', because: { code: 'PriorityMismatch' } });
    expect(asked.searches).toEqual([]);
    const full = settleWith(IS_FULL, IS_FULL);
    expect((await full.answer).because.text).toMatch(/; nothing is left; held by pods `holder` \(1\)$/);
    expect(full.asked).toEqual({ live: 1, searches: [{ namespace: 'team-a', selector: undefined }] });
  });

  test('judges nothing in a namespace that the caches have not heard of before it has been read', async () => {
    const request = { ...REQUEST, pod: { ...REQUEST.pod, namespace: 'new' } };
    const policies = [buildPolicy('p', { maxPriority: 0 })];
    const live = { ...buildWorld({ classes: CLASSES, policies }), namespaceLabels: () => new Map<string, string>() };
    expect(await settleWith(FITS, live, request).answer).toMatchObject({ kind: 'refused' });
  });

  test('rejects, and refuses nobody, when it cannot look', async () => {
    await expect(settleWith(IS_FULL).answer).rejects.toThrow('unreachable');
  });

  test('looks the partners of an affinity up without reading anything else live', async () => {
    const beside = buildRequest(HIGH, {}, { scheduling: { podAffinity: [buildTerm({ app: 'x' })] } });
    const { answer, asked } = settleWith(FITS, undefined, beside);
    expect(await answer).toMatchObject({ kind: 'allowed', warnings: [] });
    expect(asked).toMatchObject({ live: 0, searches: [{ namespace: 'team-a' }] });
  });
});
