import { describe, expect, test } from 'vitest';
import { because, allow, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { decodeReview, type Review } from '#webhook/server/admission-review.ts';
import { createCallerLanes } from '#webhook/request-body/caller-lanes.ts';
import { createPendingReviews } from '#webhook/request-body/fair-queue.ts';
import { limitConcurrency } from '#webhook/handlers/handlers.ts';
import { createPodReview, pod } from '#test/webhook/support/reviews.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { ERRORS } from '#webhook/messages.ts';

const ALLOWED = allow(because('PriorityAccepted', 'fine'));
const MIB = 1024 * 1024;

function reviewOf(namespace: string, username: string, heldBytes = 1_000): Review {
  const body: unknown = JSON.parse(createPodReview(pod(), { namespace, userInfo: { username } }));
  const decoded = decodeReview(body, { answerBy: 0, heldBytes });
  if (decoded.kind !== 'review') throw new Error(decoded.kind);
  return decoded.review;
}

test('createCallerLanes lets each caller have so many at once, and each node of one account', () => {
  const lanes = createCallerLanes({ mostPerCaller: 2, waitMs: 20 });
  const begin = (name: string, nodeName?: string) => {
    const { request } = reviewOf('a', name);
    return lanes.begin({ request: { ...request, requester: { ...request.requester, nodeName } }, heldBytes: 0 });
  };
  const [first, second] = [begin('agent', 'n1'), begin('agent', 'n1')];
  expect([first, second, begin('agent', 'n1')].map((share) => share !== undefined)).toEqual([true, true, false]);
  expect([begin('agent', 'n2'), begin('agent'), begin('other')]).not.toContain(undefined);
  first?.end();
  first?.end();
  expect([begin('agent', 'n1'), begin('agent', 'n1')].map((share) => share !== undefined)).toEqual([true, false]);
});

describe('a caller that asks for more', () => {
  const review = (name: string, heldBytes = 0) => ({ request: reviewOf('a', name).request, heldBytes });

  test('waits for its turn, in order, and not for other callers', async () => {
    const lanes = createCallerLanes({ mostPerCaller: 1, waitMs: 5_000 });
    const [first, other] = [lanes.begin(review('flood')), lanes.begin(review('agent'))];
    expect([first, other]).not.toContain(undefined);
    const order: string[] = [];
    const waiting = ['second', 'third'].map(async (name) => {
      const share = await lanes.wait(review('flood'));
      order.push(name);
      share?.end();
    });
    first?.end();
    await Promise.all(waiting);
    expect(order).toEqual(['second', 'third']);
    expect(lanes.begin(review('flood'))).toBeDefined();
  });

  test('is refused after a while, and at once where it would take more than half of the memory', async () => {
    const lanes = createCallerLanes({ mostPerCaller: 1, waitMs: 20 });
    for (const name of ['flood', 'agent']) lanes.begin(review(name));
    const large = lanes.wait(review('flood', 8 * MIB)).then(() => 'waited');
    expect(await Promise.race([lanes.wait(review('flood')), large])).toBeUndefined();
    expect(await large).toBe('waited');
    const many = Array.from({ length: 2_000 }, () => lanes.wait(review('flood')));
    const agent = lanes.wait(review('agent')).then(() => 'waited');
    expect(await Promise.race([many.at(-1), agent])).toBeUndefined();
    expect(await agent).toBe('waited');
  });
});

describe('createPendingReviews', () => {
  test('lets no namespace and no user take all slots', () => {
    const pending = createPendingReviews(8);
    const begin = (namespace: string, username: string) => pending.begin(reviewOf(namespace, username)) !== undefined;
    const greedy = Array.from({ length: 5 }, (_, index) => begin('a', `user-${index}`));
    expect(greedy).toEqual([true, true, true, true, false]);
    expect([begin('b', 'v'), begin('c', 'v'), begin('d', 'v')]).toEqual([true, true, false]);
  });

  test('has fewer slots for large reviews, and one for any review that is alone', () => {
    const pending = createPendingReviews(128);
    const large = pending.begin(reviewOf('a', 'u', 100 * MIB));
    expect(large).toBeDefined();
    expect(pending.begin(reviewOf('b', 'v', 100 * MIB))).toBeDefined();
    expect(pending.begin(reviewOf('c', 'w'))).toBeUndefined();
    large?.end();
    expect(pending.begin(reviewOf('c', 'w'))).toBeDefined();
  });
});

describe('limitConcurrency', () => {
  test('refuses a review without a free slot, without handling it', async () => {
    const open: ((decision: AdmissionDecision) => void)[] = [];
    const handle = limitConcurrency(() => new Promise((resolve) => open.push(resolve)), createPendingReviews(2));
    const first = handle(reviewOf('a', 'u'));
    expect(handle(reviewOf('a', 'u'))).toMatchObject({
      kind: 'refused',
      code: 429,
      retryAfterSeconds: 1,
      because: { code: 'Overloaded', text: MESSAGES.overloaded.text({ cause: ERRORS.tooManyWaiting() }) },
    });
    expect(open).toHaveLength(1);
    open[0]?.(ALLOWED);
    expect(await first).toBe(ALLOWED);
    expect(handle(reviewOf('a', 'u'))).toBeInstanceOf(Promise);
  });

  test('gives the slot back when a handler rejects, throws or answers at once', async () => {
    let next = (): AdmissionDecision | Promise<AdmissionDecision> => Promise.reject(new Error('on purpose'));
    const handle = limitConcurrency(() => next(), createPendingReviews(2));
    await expect(handle(reviewOf('a', 'u'))).rejects.toThrow('on purpose');
    next = () => {
      throw new Error('at once');
    };
    expect(() => handle(reviewOf('a', 'u'))).toThrow('at once');
    next = () => ALLOWED;
    expect([handle(reviewOf('a', 'u')), handle(reviewOf('a', 'u'))]).toEqual([ALLOWED, ALLOWED]);
  });
});
