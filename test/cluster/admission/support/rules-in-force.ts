import { expect } from 'vitest';
import { at, type Harness, pod } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

const PATIENCE_MS = 30_000;
/** How the API server's own refusals of pods begin. */
export const BY_COMPILED_RULES = "ValidatingAdmissionPolicy 'priority.plimsoll.dev'";

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

/** Waits until the API server itself refuses a pod by the compiled rules of policies; before, only a webhook does. */
export async function untilPolicyInForce(api: Harness, spec: object): Promise<void> {
  await eventually(async () => {
    const { status, body } = await api.post(api.core('pods'), pod('probe', spec), { query: { dryRun: 'All' } });
    expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining(BY_COMPILED_RULES)]);
  }, PATIENCE_MS);
}
