import { readFileSync } from 'node:fs';
import { QUEUE_TEMPLATE } from '#shared/api/queue.ts';
import { structuralSchema } from './custom-resource-definition.ts';

const POLICY = 'deploy/components/queues/leader-policy.yaml';

/** The policy of the leader of the queues, with the fields that it may take over from the template of a queue. */
export function guardedFields() {
  const fields = Object.entries(structuralSchema(QUEUE_TEMPLATE).properties);
  const maps = fields.filter(([, { type }]) => type === 'object');
  const lists = {
    templateFields: fields,
    templateValues: fields.filter((field) => !maps.includes(field)),
    templateMaps: maps,
    templateAmounts: maps.filter(([, { additionalProperties }]) => additionalProperties !== undefined),
  };
  const text = Object.entries(lists).reduce(
    (policy, [name, listed]) =>
      withList(
        policy,
        name,
        listed.map(([field]) => field),
      ),
    readFileSync(POLICY, 'utf8'),
  );
  return { path: POLICY, text };
}

function withList(policy: string, name: string, fields: readonly string[]): string {
  const list = `"[${fields.map((field) => `'${field}'`).join(', ')}]"`;
  return policy.replace(new RegExp(`(- name: ${name}\n +expression: ).*`), `$1${list}`);
}
