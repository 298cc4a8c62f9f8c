import { stringify } from 'yaml';
import type { KindDefinition } from '#shared/api/schema/kind-definition.ts';
import { QUEUE_DEFINITION } from '#shared/api/queue-definition.ts';
import { customResourceDefinition } from './custom-resource-definition.ts';

/** The kinds of Plimsoll. */
const KINDS: readonly KindDefinition[] = [QUEUE_DEFINITION];

/** deploy/crds. */
export function definitionArtifacts() {
  return KINDS.map((kind) => {
    const { group, plural } = kind.resource;
    const text = stringify(customResourceDefinition(kind), { lineWidth: 0, aliasDuplicateObjects: false });
    return { path: `deploy/crds/${group}_${plural}.yaml`, text: `${HEADER}${text}` };
  });
}

const HEADER = '# Generated from shared/api by: npm run generate\n';
