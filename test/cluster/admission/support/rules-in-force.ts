import { expect } from 'vitest';
import { at, type Harness, pod } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

const PATIENCE_MS = 30_000;

/** A pod that states a QoS class which does not follow from its requests: the compiled rules refuse it. */
export function forgedPod(name: string): object {
  return { ...pod(name), status: { qosClass: 'Guaranteed' } };
}

/** Waits until the API server refuses a pod by the compiled rules itself, whether a webhook answers or not. */
export async function untilRulesInForce(api: Harness): Promise<void> {
  await eventually(async () => {
    const { status, body } = await api.post(api.core('pods'), forgedPod('probe'), { query: { dryRun: 'All' } });
    expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining('ValidatingAdmissionPolicy')]);
  }, PATIENCE_MS);
}
