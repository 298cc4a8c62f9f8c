import { chargesOfRefusedPods } from './charges-of-refused-pods.ts';
import { expensivePods } from './expensive-pods.ts';
import { maximumSizePods } from './maximum-size-pods.ts';
import { largeRequests } from './large-requests.ts';
import { managedFields } from './managed-fields.ts';
import { plainRequests } from './plain-requests.ts';
import { poisonedPod } from './poisoned-pod.ts';
import { probingAffinity } from './probing-affinity.ts';
import type { Stage } from './stage.ts';
import { takenNames } from './taken-names.ts';

/** An attack of a tenant with the `edit` role, which registers tests in the present `describe`. */
type Attack = (stage: Stage) => void;

/**
 * Attacks that run on the sandbox in `npm test` and on a real API server in `npm run test:cluster`; docs/contributing/threats.md says
 * what stops each.
 */
export const ATTACKS: readonly Attack[] = [
  plainRequests,
  probingAffinity,
  chargesOfRefusedPods,
  managedFields,
  expensivePods,
  largeRequests,
  poisonedPod,
];

/** Those that last half a minute each run on a real API server only. */
export const LONG_ATTACKS: readonly Attack[] = [takenNames, maximumSizePods];
