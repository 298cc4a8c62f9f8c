import { describe, expect, test } from 'vitest';
import type { ClusterState, PodSearch } from '#shared/domain/admission/cluster-state.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import {
  decideThenConfirm,
  MUTATION,
  VALIDATION,
  type AdmissionPhase,
  type PodSources,
} from '#webhook/handlers/pod-handlers.ts';
import { createPendingReviews } from '#webhook/request-body/fair-queue.ts';
import { buildClass, buildClassQuota, buildPolicy, buildRequest, buildWorld } from '#test/build/admission.ts';
import { buildPod, buildTerm } from '#test/build/cluster.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { encodeReview } from '#webhook/server/admission-review.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { ERRORS } from '#webhook/messages.ts';

const CLASSES = [buildClass('high', 1_000)];
const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
const FULL = buildClassQuota('q', 'high', { hard: { pods: '1' }, used: { pods: '1' } });
const ROOMY = buildClassQuota('q', 'high', { hard: { pods: '1' }, used: { pods: '0' } });
const HOLDER = buildPod({ name: 'holder', namespace: 'team-a', spec: HIGH });

const FITS = buildWorld({ classes: CLASSES, quotas: [ROOMY] });
const IS_FULL = buildWorld({ classes: CLASSES, quotas: [FULL] });
const REQUEST = buildRequest(HIGH);

const REVIEW = {
  request: { namespace: 'team-a', requester: { name: 'alice', groups: [] } },
  answerBy: 1_500,
  heldBytes: 1_000,
};

interface Scene {
  readonly live?: ClusterState | Promise<ClusterState>;
  readonly request?: PodRequest;
  readonly phase?: AdmissionPhase;
  readonly more?: Partial<PodSources>;
}

/** Decides with these caches; whatever is read live is `live`, or fails. */
function decideWith(cached: ClusterState, { live, request = REQUEST, phase = VALIDATION, more = {} }: Scene = {}) {
  const asked = { live: 0, searches: [] as PodSearch[] };
  const sources: PodSources = {
    cluster: () => cached,
    cacheAgeSeconds: () => 12,
    liveState: () => {
      asked.live += 1;
      return live === undefined ? Promise.reject(new Error('unreachable')) : Promise.resolve(live);
    },
    lookUpPods: (searches: readonly PodSearch[]) => {
      asked.searches.push(...searches);
      return Promise.resolve({ pods: [HOLDER], isPartial: false });
    },
    pending: createPendingReviews(8),
    clock: manualClock(),
    ...more,
  };
  const review = REVIEW as unknown as Parameters<typeof decideThenConfirm>[0]['review'];
  return { answer: decideThenConfirm({ review, request, phase }, sources), asked };
}

const UNKNOWN_PLACE = { ...REQUEST, pod: { ...REQUEST.pod, namespace: 'new' } };
const NEVER = new Promise<ClusterState>(() => undefined);
const FULL_UP: Partial<PodSources> = { pending: { begin: () => undefined } };

describe('deciding', () => {
  test('allows from the caches at once, without any read', () => {
    const { answer, asked } = decideWith(FITS);
    expect([answer, asked]).toMatchObject([{ kind: 'allowed' }, { live: 0, searches: [] }]);
  });

  test('checks a refusal from cached numbers live before it is given', async () => {
    const { answer, asked } = decideWith(IS_FULL, { live: FITS });
    expect([await answer, asked]).toMatchObject([{ kind: 'allowed' }, { live: 1, searches: [] }]);
  });

  test('checks a refusal by a cached policy live too', async () => {
    const strict = buildWorld({ classes: CLASSES, policies: [buildPolicy('p', { maxPriority: 0 })] });
    expect(await decideWith(strict, { live: FITS }).answer).toMatchObject({ kind: 'allowed' });
  });

  test('refuses what is refused live, with the pods that hold the quota', async () => {
    const { answer, asked } = decideWith(FITS, { live: IS_FULL, request: buildRequest({ ...HIGH, priority: 5 }) });
    expect(await answer).toMatchObject({ kind: 'refused', because: { code: 'PriorityMismatch' } });
    expect(asked.searches).toEqual([]);
    const full = decideWith(IS_FULL, { live: IS_FULL });
    expect((await full.answer).because.text).toMatch(/; nothing left; largest pods: `holder` \(1\)$/);
    expect(full.asked).toEqual({ live: 1, searches: [{ namespace: 'team-a', selector: undefined }] });
  });

  test('decides nothing in an unknown namespace before reading it', async () => {
    const policies = [buildPolicy('p', { maxPriority: 0 })];
    const live = { ...buildWorld({ classes: CLASSES, policies }), namespaceLabels: () => new Map<string, string>() };
    expect(await decideWith(FITS, { live, request: UNKNOWN_PLACE }).answer).toMatchObject({ kind: 'refused' });
  });

  test('looks up the pods of an affinity without reading anything else live', async () => {
    const beside = buildRequest(HIGH, {}, { scheduling: { podAffinity: [buildTerm({ app: 'x' })] } });
    const { answer, asked } = decideWith(FITS, { request: beside });
    expect(await answer).toMatchObject({ kind: 'allowed', warnings: [] });
    expect(asked).toMatchObject({ live: 0, searches: [{ namespace: 'team-a' }] });
  });

  test('looks nothing up in the mutating phase, where no warning is final', () => {
    const beside = buildRequest(HIGH, {}, { scheduling: { podAffinity: [buildTerm({ app: 'x' })] } });
    const { answer, asked } = decideWith(FITS, { request: beside, phase: MUTATION });
    expect([answer, asked]).toMatchObject([{ kind: 'allowed' }, { live: 0, searches: [] }]);
  });
});

describe('when the API server cannot be asked', () => {
  const CAUSES: Record<string, { scene: Scene; cause: string }> = {
    'because reading fails': { scene: {}, cause: 'unreachable' },
    'in time': {
      scene: { live: NEVER, more: { clock: { ...manualClock(), monotonic: () => 1_440 } } },
      cause: ERRORS.tooLate(10),
    },
    'because the time is over': {
      scene: { live: NEVER, more: { clock: { ...manualClock(), monotonic: () => 9_999 } } },
      cause: ERRORS.tooLate(0),
    },
    'because too many wait for it': {
      scene: { more: FULL_UP },
      cause: ERRORS.tooManyWaiting(),
    },
  };

  test.each(Object.entries(CAUSES))(
    '%s, a refusal stands and says how old its data is',
    async (_, { scene, cause }) => {
      const decision: AdmissionDecision = await decideWith(IS_FULL, scene).answer;
      expect(decision).toMatchObject({
        kind: 'refused',
        because: { code: 'QuotaExceeded' },
        unconfirmed: PHRASES.unconfirmed(12, cause),
      });
      expect(encodeReview('u', decision, undefined)).toContain(`; ${PHRASES.unconfirmed(12, cause)}"`);
    },
  );

  test.each(Object.entries(CAUSES))('%s, nothing is allowed in an unknown namespace', async (_, { scene, cause }) => {
    expect(await decideWith(FITS, { ...scene, request: UNKNOWN_PLACE }).answer).toMatchObject({
      kind: 'refused',
      code: 429,
      retryAfterSeconds: 1,
      because: {
        code: 'NamespaceUnknown',
        text: MESSAGES.namespaceUnknown.text({ namespace: 'new', cause }),
      },
    });
  });

  test('the same refusal reads the same in Events, whatever the age of the caches', async () => {
    const text = async (ageSeconds: number | undefined) =>
      (await decideWith(IS_FULL, { more: { cacheAgeSeconds: () => ageSeconds } }).answer).because.text;
    expect(await text(1)).toBe(await text(undefined));
  });

  test('an allowed pod stays allowed if the look-up fails', async () => {
    const beside = buildRequest(HIGH, {}, { scheduling: { podAffinity: [buildTerm({ app: 'x' })] } });
    for (const more of [FULL_UP, { clock: { ...manualClock(), monotonic: () => 1_300 } }]) {
      const { answer, asked } = decideWith(FITS, { request: beside, more });
      expect([await answer, asked.searches]).toMatchObject([{ kind: 'allowed' }, []]);
    }
  });

  test('slots are given back in every case', async () => {
    const more = { pending: createPendingReviews(2) };
    for (let count = 0; count < 3; count += 1) {
      expect(await decideWith(IS_FULL, { live: FITS, more }).answer).toMatchObject({ kind: 'allowed' });
      expect(await decideWith(IS_FULL, { more }).answer).toMatchObject({ kind: 'refused' });
    }
  });
});
