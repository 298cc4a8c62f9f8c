import { expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { checkNothing, quotaHandler, type QuotaSources } from '#webhook/handlers/quota-handler.ts';
import { decodeReview } from '#webhook/server/admission-review.ts';
import { createPodReview, pod } from '#test/webhook/support/reviews.ts';

test('a namespace that cannot be read gets 429 although the caches are not filled yet', async () => {
  const sources: Pick<QuotaSources, 'cachedNamespaces' | 'readLabels' | 'cluster' | 'clock' | 'withinMs'> = {
    cachedNamespaces: { get: () => undefined },
    readLabels: () => Promise.reject(new Error('the API server is away')),
    cluster: () => {
      throw new Error('caches are not synced');
    },
    clock: systemClock,
    withinMs: 1_000,
  };
  const body: unknown = JSON.parse(createPodReview(pod({}, { uid: 'uid-1' })));
  const decoded = decodeReview(body, { answerBy: Infinity, heldBytes: 0 });
  if (decoded.kind !== 'review') throw new Error(`the review of the test is ${decoded.kind}`);
  const decision = await quotaHandler(sources as QuotaSources, checkNothing)(decoded.review);
  expect(decision).toMatchObject({ kind: 'refused', code: 429 });
});
