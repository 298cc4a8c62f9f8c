import { podCharge } from '#shared/domain/quota/charge.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { readInstant } from '#shared/kube/wire-object.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { readCase, required } from '#test/conformance/required.ts';

/** Kind `podusage`: what a pod is charged in quotas. */
export function answer(raw: unknown): unknown {
  const { now, wirePod } = readCase(raw, (vector) => ({
    now: readInstant(vector, 'now') ?? 0,
    wirePod: vector['pod'],
  }));
  return { usage: printAmounts(podCharge(required(decodePod(wirePod)), now)) };
}
