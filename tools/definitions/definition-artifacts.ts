import { stringify } from 'yaml';
import { RESCHEDULING_POLICY_DEFINITION } from './kinds/rescheduling-policy.ts';
import type { KindDefinition } from './kind-definition.ts';
import { DISRUPTION_ACCOUNT_DEFINITION } from './kinds/disruption-account.ts';
import { DISRUPTION_DEFINITION } from './kinds/disruption.ts';
import { NODE_PRESSURE_DEFINITION } from './kinds/node-pressure.ts';
import { PRIORITY_RULES_DEFINITION } from './kinds/priority-rules.ts';
import { DISRUPTION_LIMIT_DEFINITION } from './kinds/disruption-limit.ts';
import { DISRUPTION_POLICY_DEFINITION } from './kinds/disruption-policy.ts';
import { PRIORITY_POLICY_DEFINITION } from './kinds/priority-policy.ts';
import { PRIORITY_QUOTA_DEFINITION } from './kinds/priority-quota.ts';
import { NODE_PRESSURE_POLICY_DEFINITION } from './kinds/node-pressure-policy.ts';
import { QUEUE_DEFINITION } from './kinds/queue.ts';
import { QUEUE_SELECTORS_DEFINITION } from './kinds/queue-selectors.ts';
import { customResourceDefinition } from './custom-resource-definition.ts';

/** The kinds of Plimsoll. */
const KINDS: readonly KindDefinition[] = [
  DISRUPTION_DEFINITION,
  DISRUPTION_ACCOUNT_DEFINITION,
  DISRUPTION_LIMIT_DEFINITION,
  DISRUPTION_POLICY_DEFINITION,
  PRIORITY_POLICY_DEFINITION,
  PRIORITY_QUOTA_DEFINITION,
  PRIORITY_RULES_DEFINITION,
  NODE_PRESSURE_DEFINITION,
  NODE_PRESSURE_POLICY_DEFINITION,
  QUEUE_DEFINITION,
  QUEUE_SELECTORS_DEFINITION,
  RESCHEDULING_POLICY_DEFINITION,
];

/** deploy/crds. */
export function definitionArtifacts() {
  return KINDS.map((kind) => {
    const { group, plural } = kind.resource;
    const text = stringify(customResourceDefinition(kind), { lineWidth: 0, aliasDuplicateObjects: false });
    return { path: `deploy/crds/${group}_${plural}.yaml`, text: `${HEADER}${text}` };
  });
}

const HEADER = '# Generated from shared/api by: npm run generate\n';
