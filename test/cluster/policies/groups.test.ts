import { describe, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import { ADMISSION_POLICIES } from '#shared/kube/resource.ts';
import { RULES_OF_GROUPS } from '#shared/kube/api-names.ts';
import { buildClass } from '#test/build/admission.ts';
import { valueOf } from '#test/build/value-of.ts';
import { evaluatePolicies, findPolicyEvaluator } from './policy-evaluator.ts';

const program = findPolicyEvaluator(process.env);
const why = program.kind === 'missing' && process.env['CI'] === undefined ? ` (not run: ${program.because})` : '';
const POLICIES = rulePolicies().filter(({ kind }) => kind === ADMISSION_POLICIES.kind);
const CLASSES = new Map([buildClass('high', 1_000), buildClass('low', 10)].map((each) => [each.name, each]));
const ALICE = { subjects: [{ kind: 'User', name: 'alice' }] };
const CEILING = 'policy `p` allows a priority of at most 100 here; priority class `high` has 1000';
const WITHOUT_LABEL = 'but this namespace has no label plimsoll.dev/priority-quota=enforced';

interface Case {
  readonly spec: object;
  readonly group: object;
  readonly workload: object;
  readonly denied: { readonly group?: string; readonly workload?: string };
}

/** Every group names its class as the API server leaves it: with its number. */
const high = { priorityClassName: 'high', priority: 1_000 };
const low = { priorityClassName: 'low', priority: 10 };
const of = (...names: readonly string[]): object => ({
  podGroupTemplates: names.map((priorityClassName) => ({ name: 'g', priorityClassName })),
});

const CASES: Readonly<Record<string, Case>> = {
  'a ceiling for everybody': {
    spec: { maxPriority: 100 },
    group: high,
    workload: of('high'),
    denied: { group: CEILING },
  },
  'a ceiling for a person': {
    spec: { ...ALICE, maxPriority: 100 },
    group: high,
    workload: of('low', 'high', 'low'),
    denied: { group: CEILING, workload: CEILING },
  },
  'a class that does not exist, under a ceiling for a person': {
    spec: { ...ALICE, maxPriority: 100 },
    group: low,
    workload: of('later'),
    denied: { workload: 'policy `p` allows a priority of at most 100 here; priority class `later` does not exist' },
  },
  'a list for a person': {
    spec: { ...ALICE, allowedPriorityClassNames: ['low'] },
    group: high,
    workload: of('low', 'high'),
    denied: {
      group: 'policy `p` does not allow priority class `high` here; allowed: `low`',
      workload: 'policy `p` does not allow priority class `high` here; allowed: `low`',
    },
  },
  'a class that requires a quota': {
    spec: { ...ALICE, requireQuotaFor: ['high'] },
    group: high,
    workload: of('high'),
    denied: {
      group: `policy \`p\` allows priority class \`high\` only where a quota covers it, ${WITHOUT_LABEL}`,
      workload: `policy \`p\` allows priority class \`high\` only where a quota covers it, ${WITHOUT_LABEL}`,
    },
  },
  'what the policies allow': {
    spec: { ...ALICE, maxPriority: 100, preemption: 'Never', defaultPriorityClassName: 'low' },
    group: low,
    workload: of('low', 'low'),
    denied: {},
  },
  'groups without a class, which are none that anybody chose': {
    spec: { ...ALICE, allowedPriorityClassNames: ['low'] },
    group: {},
    workload: { podGroupTemplates: [{ name: 'g' }] },
    denied: {},
  },
  'nothing at all': { spec: { ...ALICE, maxPriority: 100 }, group: {}, workload: {}, denied: {} },
};

describe.skipIf(why !== '')(`what the API server makes of groups of pods, by compiled rules${why}`, () => {
  test.each(Object.entries(CASES))('%s', async (_, { spec, group, workload, denied }) => {
    expect(await judged(spec, { PodGroup: group, Workload: workload })).toEqual({
      [RULES_OF_GROUPS.podGroups]: denied.group === undefined ? [] : [denied.group],
      [RULES_OF_GROUPS.workloads]: denied.workload === undefined ? [] : [denied.workload],
    });
  });
});

/** What each policy for groups says, by its name; expressions that fail included. */
async function judged(policy: object, specs: Readonly<Record<string, object>>): Promise<object> {
  if (program.kind === 'missing') throw new Error(program.because);
  const requests = Object.entries(specs).map(([kind, spec]) => ({
    kind,
    object: { apiVersion: 'scheduling.k8s.io/v1alpha2', kind, metadata: { name: 'web' }, spec },
    namespace: 'team-a',
    namespaceLabels: {},
    user: 'alice',
    groups: [],
  }));
  const said: Record<string, readonly string[]> = {};
  const setup = { policies: POLICIES, params: paramsOf(policy) };
  for await (const { outcomes = [] } of evaluatePolicies(program.paths.policies, setup, requests))
    for (const { policy: name, matches, denied = [], errors = [] } of outcomes)
      if (matches) said[name] = [...denied, ...errors];
  return said;
}

function paramsOf(policy: object): object {
  const policies = [valueOf(decodePriorityPolicy({ metadata: { name: 'p' }, spec: policy }))];
  const { refusing } = compileRules({ policies, quotas: [], classes: CLASSES, mode: 'Enforce', bytesOf: storedBytes });
  if (refusing === undefined) throw new Error('no rules that refuse');
  const metadata = { name: 'plimsoll' };
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityRules', metadata, spec: encodePriorityRules(refusing) };
}
