import type { Because } from '#shared/domain/model/because.ts';

/** The bounds of deploy/crds/plimsoll.dev_nodepressures.yaml. */
const LONGEST = { text: 1_024, fact: 253 } as const;
const MOST_FACTS = 32;

/**
 * A reason as the CRD takes it. Names of owners have no limit in Kubernetes, and one text that is too long would make the
 * API server refuse the whole status: a tenant could silence the node.
 */
export function boundedReason({ code, text, facts }: Because): Because {
  const entries = Object.entries(facts).slice(0, MOST_FACTS);
  const bounded = entries.map(([name, value]) => [name, typeof value === 'string' ? cut(value, LONGEST.fact) : value]);
  return { code, text: cut(text, LONGEST.text), facts: Object.fromEntries(bounded) as Because['facts'] };
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
