import { readFileSync } from 'node:fs';
import { QUEUE_TEMPLATE } from '#shared/api/queue.ts';
import { celList } from '#shared/kube/admission/cel-expressions.ts';
import { QUEUE_LEADERS } from '#tools/policies/queue-pods.ts';
import { structuralSchema } from './custom-resource-definition.ts';

const POLICY = 'deploy/components/queues/leader-policy.yaml';

/**
 * The policies of the leader of the queues, with the accounts that they hold and the fields that it may take over from
 * the template of a queue.
 */
export function guardedFields() {
  const fields = Object.entries(structuralSchema(QUEUE_TEMPLATE).properties);
  const maps = fields.filter(([, { type }]) => type === 'object');
  const lists = {
    templateFields: fields,
    templateValues: fields.filter((field) => !maps.includes(field)),
    templateMaps: maps,
    templateAmounts: maps.filter(([, { additionalProperties }]) => additionalProperties !== undefined),
  };
  const expressions = new Map([['queues', `request.userInfo.username in ${QUEUE_LEADERS}`]]);
  for (const [name, listed] of Object.entries(lists)) expressions.set(name, celList(listed.map(([field]) => field)));
  let text = readFileSync(POLICY, 'utf8');
  for (const [name, expression] of expressions) text = withExpression(text, name, expression);
  return { path: POLICY, text };
}

function withExpression(policies: string, name: string, expression: string): string {
  return policies.replaceAll(new RegExp(`(- name: ${name}\n +expression: ).*`, 'g'), `$1"${expression}"`);
}
