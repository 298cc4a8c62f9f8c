import { readFileSync } from 'node:fs';
import { evaluate } from '@marcbachmann/cel-js';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { unstatedName } from '#shared/domain/quota/charge.ts';
import { COMPUTE, countsPods, LIMITS, REQUESTS } from '#shared/domain/quota/priority-quota.ts';

interface Field {
  readonly 'x-kubernetes-validations': readonly { readonly rule: string }[];
}
interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: {
            readonly spec: { readonly properties: Readonly<Record<'hard' | 'defaultRequest', Field>> };
          };
        };
      };
    }[];
  };
}

const FILE = new URL('../../deploy/crds/plimsoll.dev_priorityquotas.yaml', import.meta.url);
const definition = parse(readFileSync(FILE, 'utf8')) as Definition;
const NAMES = ['pods', ...COMPUTE.flatMap((name) => [name, REQUESTS + name, LIMITS + name])];

/** Whether the definition of PriorityQuota takes this name in a field. */
function takes(field: 'hard' | 'defaultRequest', name: string): boolean {
  const { properties } = definition.spec.versions[0]?.schema.openAPIV3Schema.properties.spec ?? {
    properties: undefined,
  };
  return (properties?.[field]['x-kubernetes-validations'] ?? []).every(
    ({ rule }) => evaluate(rule, { self: new Map([[name, '1']]) }) === true,
  );
}

describe('the definition of PriorityQuota', () => {
  test.each([...NAMES, 'hugepages-2Mi', 'requests.hugepages-1Gi', 'requests.example.com/gpu'])('takes %s', (name) => {
    expect(countsPods(name)).toBe(true);
    expect(takes('hard', name)).toBe(true);
  });

  test.each(['services', 'count/services', 'persistentvolumeclaims', 'example.com/gpu', ''])('refuses %j', (name) => {
    expect(countsPods(name)).toBe(false);
    expect(takes('hard', name)).toBe(false);
  });

  test.each(NAMES)('takes a default for %s if containers have to state it', (name) => {
    expect(takes('defaultRequest', name)).toBe(unstatedName(name) !== undefined);
  });
});
