import { setTimeout } from 'node:timers/promises';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { podsPath, type Variant } from './variants.ts';

/** The class that the policy gives to pods without one. */
export const CLASS = 'bench';

const SETTINGS = Array.from({ length: 12 }, (_, number) => ({ name: `SETTING_${number}`, value: `value-${number}` }));
const RESOURCES = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } };
const CONTAINERS = ['main', 'proxy'].map((name) => ({
  name,
  image: `registry.test/${name}:1.0`,
  resources: RESOURCES,
  env: SETTINGS,
}));
/** No scheduler places it, so only its admission is measured. */
const SPEC = { schedulerName: 'none', containers: CONTAINERS };

/** One pod from the first attempt to its answer. */
export interface Created {
  readonly tookMs: number;
  /** How often the answer was to retry later, which every Kubernetes client does. */
  readonly repeats: number;
}

/** Creates a pod. Rejects unless it was admitted as the variant expects. */
export async function createPod(client: KubeClient, variant: Variant, name: string): Promise<Created> {
  const spec = variant.className === 'named' ? { ...SPEC, priorityClassName: CLASS } : SPEC;
  const body = { metadata: { name, labels: { app: 'bench' } }, spec };
  const attempt = (): Promise<Outcome<unknown>> => client.request({ method: 'POST', path: podsPath(variant), body });
  const begin = performance.now();
  let outcome = await attempt();
  let repeats = 0;
  for (; outcome.kind === 'tooManyRequests'; repeats += 1) {
    await setTimeout((outcome.retryAfterSeconds ?? 1) * 1_000);
    outcome = await attempt();
  }
  const tookMs = performance.now() - begin;
  if (outcome.kind !== 'ok') throw new Error(`cannot create a pod by way of ${variant.name}: ${outcome.message}`);
  const { priorityClassName = '' } = (outcome.object as { readonly spec: { readonly priorityClassName?: string } })
    .spec;
  if ((priorityClassName === CLASS) !== (variant.className !== 'none'))
    throw new Error(`a pod did not go by way of ${variant.name}: its class is "${priorityClassName}"`);
  return { tookMs, repeats };
}
