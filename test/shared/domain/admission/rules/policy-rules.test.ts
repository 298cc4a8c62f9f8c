import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodePriorityRules } from '#shared/api/priority-rules.ts';
import { decodePriorityPolicy, encodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { POLICY_RULES } from '#shared/domain/admission/policy-rules.ts';
import type { PolicyLimits } from '#shared/domain/priority/classes-and-policies.ts';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { buildPolicy } from '#test/build/admission.ts';
import { policyArbitrary } from '#test/build/rule-cases.ts';
import { valueOf } from '#test/build/value-of.ts';
import { repositoryDefinitions } from '#tools/references/describe-objects.ts';

/** A value of each limit that forbids something. */
const FORBIDDING: { readonly [Name in keyof PolicyLimits]: PolicyLimits[Name] } = {
  allowedClassNames: ['low'],
  maxPriority: 10,
  preemption: 'Never',
  requireQuotaFor: ['high'],
  runOn: { room: 'Spare', classNames: undefined },
};
const LIMITS = Object.entries(FORBIDDING) as readonly [keyof PolicyLimits, unknown][];

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

function specOf(kind: string): Schema | undefined {
  const { spec } = repositoryDefinitions().find((each) => each.spec.names.kind === kind) ?? {};
  return (spec?.versions[0]?.schema.openAPIV3Schema as Schema | undefined)?.properties?.['spec'];
}

/** The fields that a limit adds to an object. */
function added(encode: (policy: ReturnType<typeof buildPolicy>) => object, limit: object): readonly string[] {
  const [plain, limited] = [encode(buildPolicy('p')), encode(buildPolicy('p', limit))] as Record<string, unknown>[];
  return Object.keys(limited ?? {}).filter((key) => JSON.stringify(limited?.[key]) !== JSON.stringify(plain?.[key]));
}

const written = (policy: ReturnType<typeof buildPolicy>): object =>
  (encodePriorityPolicy(policy) as { readonly spec: object }).spec;

function compiled(policy: ReturnType<typeof buildPolicy>): object {
  // The default makes it an entry even if it forbids nothing.
  const policies = [{ ...policy, defaultClassName: 'low' }];
  const sources = { policies, quotas: [], classes: new Map(), bytesOf: () => 1 };
  const { refusing } = compileRules({ ...sources, mode: 'Enforce' });
  if (refusing === undefined) return {};
  return (encodePriorityRules(refusing) as { readonly rules: readonly object[] }).rules[0] ?? {};
}

test.each(LIMITS)('%s is one rule, which a policy without it does not have', (name, value) => {
  const having = POLICY_RULES.filter(({ isSet }) => isSet(buildPolicy('p', { [name]: value })));
  expect(having).toHaveLength(1);
  expect(having[0]?.isSet(buildPolicy('p'))).toBe(false);
});

test.each(LIMITS)('%s is a field of a PriorityPolicy, and read again', (name, value) => {
  const policy = buildPolicy('p', { [name]: value });
  const fields = added(written, { [name]: value });
  expect(fields).toHaveLength(1);
  expect(Object.keys(specOf('PriorityPolicy')?.properties ?? {})).toEqual(expect.arrayContaining([...fields]));
  expect(valueOf(decodePriorityPolicy(encodePriorityPolicy(policy)))[name]).toEqual(value);
});

test.each(LIMITS)(
  '%s gets into PriorityRules, and every expression that judges by it reads it there',
  (name, value) => {
    const fields = added(compiled, { [name]: value });
    expect(fields.length).toBeGreaterThan(0);
    const entry = specOf('PriorityRules')?.properties?.['rules']?.items?.properties ?? {};
    expect(Object.keys(entry)).toEqual(expect.arrayContaining([...fields]));
    const texts = JSON.stringify(rulePolicies());
    expect(fields.filter((field) => !texts.includes(`rule.${field}`))).toEqual([]);
  },
);

test.each(LIMITS)(
  '%s is in the random policies by which the webhook and the API server are compared',
  (name, value) => {
    const specs = fc.sample(policyArbitrary(String, true), { seed: 1, numRuns: 200 });
    const [field = ''] = added(written, { [name]: value });
    expect(specs.filter((spec) => spec[field] !== undefined)).not.toEqual([]);
  },
);
