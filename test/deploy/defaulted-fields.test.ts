import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';

/** Lists that Kubernetes replaces as a whole: a default that is not written is a difference and a conflict to other managers. */
const DEFAULTS: readonly (readonly [list: string, fields: readonly string[]])[] = [
  ['spec.matchConstraints', ['matchPolicy', 'namespaceSelector', 'objectSelector']],
  ['spec.matchConstraints.resourceRules', ['scope']],
  ['webhooks.rules', ['scope']],
  ['spec.ingress.ports', ['protocol']],
  ['spec.egress.ports', ['protocol']],
  ['spec.rules.resourceRules', ['namespaces']],
  ['spec.template.spec.containers.env.valueFrom.fieldRef', ['apiVersion']],
];

/** What is at a path; lists on the way are gone through. */
function allAt(value: unknown, [key, ...rest]: readonly string[]): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => allAt(item, key === undefined ? [] : [key, ...rest]));
  return key === undefined ? (value === undefined ? [] : [value]) : allAt(at(value, key), rest);
}

test.each(DEFAULTS)('%s names %s wherever it is', (path, fields) => {
  const missing = globSync('deploy/{base,components,overlays}/**/*.yaml').flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).flatMap((document) =>
      allAt(document.toJS() as unknown, path.split('.'))
        .filter((each) => fields.some((field) => at(each, field) === undefined))
        .map(() => file),
    ),
  );
  expect(missing).toEqual([]);
});
