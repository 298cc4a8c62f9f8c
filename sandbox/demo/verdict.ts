import type { Scenario } from './plan-scenario.ts';

/** What was seen to happen; pods are `namespace/name`. */
export interface Happenings {
  readonly refused: readonly { readonly pod: string; readonly reason: string }[];
  readonly evicted: readonly { readonly pod: string; readonly because: string }[];
  /** Names of the services whose first pod still runs, never restarted. */
  readonly survived: readonly string[];
  /** From the node being short of memory to the eviction; `undefined` if there was none. */
  readonly secondsToEvict: number | undefined;
}

/** How a refusal by one of our webhooks begins; what the API server itself refuses does not count. */
const OUR_REFUSAL = /^admission webhook "[a-z]+\.plimsoll\.dev" denied the request: /;

/** What had to happen and did not, one sentence each; empty if all is well. */
export function findShortcomings({ services, refused, hog }: Scenario, seen: Happenings): readonly string[] {
  const refusedPod = `${refused.namespace}/${refused.name}`;
  const hogPod = `${hog.namespace}/${hog.name}`;
  const names = services.map(({ namespace, name }) => `${namespace}/${name}`);
  const lost = names.filter((name) => !seen.survived.includes(name));
  const others = seen.evicted.filter(({ pod }) => pod !== hogPod);
  return [
    ...(seen.refused.some(({ pod, reason }) => pod === refusedPod && OUR_REFUSAL.test(reason))
      ? []
      : [`pod ${refusedPod} was not refused by the webhook`]),
    ...(seen.evicted.some(({ pod }) => pod === hogPod) ? [] : [`pod ${hogPod} was not evicted`]),
    ...others.map(({ pod }) => `pod ${pod} was evicted though it kept to its request`),
    ...lost.map((name) => `service ${name} did not survive`),
  ];
}

/** The last line of `npm start -- --once`. */
export function resultLine({ refused, evicted, survived, secondsToEvict }: Happenings): string {
  return JSON.stringify({ refused, evicted, survived, secondsToEvict: secondsToEvict ?? null });
}
