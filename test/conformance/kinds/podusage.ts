import { charge } from '#shared/domain/quota/charge.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { readInstant } from '#shared/kube/decode/wire-object.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { readCase, required } from '#test/conformance/required.ts';

/** Kind `podusage`: what a pod is charged. */
export function answer(raw: unknown): unknown {
  const { pod, now } = readCase(raw, (vector) => ({ pod: vector['pod'], now: readInstant(vector, 'now') ?? 0 }));
  return { usage: printAmounts(charge(required(decodePod(pod)), now)) };
}
