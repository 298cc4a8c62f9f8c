import type { KubeClient } from '#shared/kube/client.ts';
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
/** No scheduler takes it up, so nothing but its admission is at work. */
const SPEC = { schedulerName: 'nobody', containers: CONTAINERS };

/** Creates a pod and resolves with the milliseconds that took. Rejects unless it went the way of the variant. */
export async function createPod(client: KubeClient, variant: Variant, name: string): Promise<number> {
  const body = { metadata: { name, labels: { app: 'bench' } }, spec: SPEC };
  const begin = performance.now();
  const outcome = await client.request({ method: 'POST', path: podsPath(variant), body });
  const took = performance.now() - begin;
  if (outcome.kind !== 'ok') throw new Error(`cannot create a pod by way of ${variant.name}: ${outcome.message}`);
  const { spec } = outcome.object as { readonly spec: { readonly priorityClassName?: string } };
  if ((spec.priorityClassName === CLASS) !== variant.isMutated)
    throw new Error(`a pod did not go by way of ${variant.name}: its class is "${spec.priorityClassName ?? ''}"`);
  return took;
}
