import { chargesOfRefusedPods } from './charges-of-refused-pods.ts';
import { dearPods } from './dear-pods.ts';
import { fatPods } from './fat-pods.ts';
import { largeRequests } from './large-requests.ts';
import { managedFields } from './managed-fields.ts';
import { plainAsking } from './plain-asking.ts';
import { poisonedPod } from './poisoned-pod.ts';
import { probingAffinity } from './probing-affinity.ts';
import type { Stage } from './stage.ts';
import { takenNames } from './taken-names.ts';

/**
 * Every attack of a tenant with the `edit` role, each registering tests in the present `describe`. They run on the
 * sandbox in `npm test` and on a real API server in `npm run test:cluster`; docs/security.md says what stops each.
 */
export const ATTACKS: readonly ((stage: Stage) => void)[] = [
  plainAsking,
  probingAffinity,
  chargesOfRefusedPods,
  managedFields,
  dearPods,
  largeRequests,
  takenNames,
  poisonedPod,
  fatPods,
];
