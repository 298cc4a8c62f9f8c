import { badInput, DENIED_403, FITTING, metadata, type BadInput } from '#test/webhook/bad-inputs/bad-input.ts';
import { createPodReview, pod } from '#test/webhook/support/reviews.ts';

const MIB = 1024 * 1024;
const CHUNKED = { headers: { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' } };
const LARGE = 2.9 * MIB;

const ANSWERED = { status: 200 };
const TOO_LARGE = { status: 413 };

/** A review of about `bytes` whose pod repeats `{}` in an ignored field. */
function stuffed(bytes: number, namespace = 'team-a'): string {
  const text = createPodReview(pod({ ...FITTING, unknown: 'HERE' }), { namespace });
  return text.replace('"HERE"', `[${Array.from({ length: Math.floor(bytes / 3) }, () => '{}').join(',')}]`);
}

/** Annotations of a fitting pod that fill nearly the largest body. */
function longText(text: string): string {
  return metadata({ annotations: { long: text } });
}

/** What any client that reaches the port may send: expensive reviews one by one, and far too many at once. */
export const FLOODS: readonly BadInput[] = [
  badInput('flood', 'bodies far too large', Buffer.alloc(9 * MIB, 0x20), TOO_LARGE),
  badInput('flood', 'bodies far too large without a length', Buffer.alloc(9 * MIB, 0x20), TOO_LARGE, CHUNKED),
  badInput('flood', 'long texts', longText('x'.repeat(LARGE)), ANSWERED),
  badInput('flood', 'long texts without a length', longText('x'.repeat(LARGE)), ANSWERED, CHUNKED),
  badInput('flood', 'long texts of wide characters', longText(`€${'x'.repeat(LARGE)}`), ANSWERED),
  badInput('flood', 'long names', createPodReview(pod({ priorityClassName: 'n'.repeat(LARGE) })), ANSWERED),
  badInput('flood', 'as many values as are read', stuffed(15_000), ANSWERED),
  badInput('flood', 'far too many values', stuffed(LARGE), ANSWERED),
  badInput('flood', 'small bodies full of values', stuffed(60_000), ANSWERED),
  badInput('flood', 'small bodies full of values that wait for the API server', stuffed(60_000, 'unknown'), ANSWERED),
  badInput('flood', 'refusals', createPodReview(pod({ priorityClassName: 'unknown' })), DENIED_403),
];
