import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { celValue, compileExpression } from '#sandbox/api-server/cel/expression.ts';
import { applyJsonPatch } from '#sandbox/api-server/patch/patch.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { priorityPatch } from '#shared/kube/admission/pod-patches.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import { buildWorld } from '#test/build/admission.ts';
import { RULE_CLASSES } from '#test/build/rule-cases.ts';
import { valueOf } from '#test/build/value-of.ts';

const SEED = 20_261_129;
const RUNS = 300;

interface MutatingSpec {
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly mutations: readonly { readonly jsonPatch: { readonly expression: string } }[];
}

const SPEC = defaultPolicy()[0]?.['spec'] as MutatingSpec;
const KNOWN = ['object', 'request', 'params', 'namespaceObject', 'variables'];

function compiled(text: string) {
  const found = compileExpression(text, KNOWN);
  if (!found.ok) throw new Error(`${found.message}: ${text}`);
  return found.expression;
}

/** An operation as a map, which is all that the sandbox's CEL has for it. */
function asMaps(patch: string): string {
  return patch.replaceAll(
    /JSONPatch\{op: ('\w+'), path: (.+?)(?:, value: (.+?))?\}(?=[),\]\n]|$| :)/gm,
    (_, op: string, path: string, value = "''") => `{'op': ${op}, 'path': ${path}, 'value': ${value}}`,
  );
}

const CONDITIONS = SPEC.matchConditions
  .filter(({ name }) => name === 'may-receive')
  .map((each) => compiled(each.expression));
const VARIABLES = SPEC.variables.map(({ name, expression }) => ({ name, expression: compiled(expression) }));
const MUTATIONS = SPEC.mutations.map(({ jsonPatch }) => compiled(asMaps(jsonPatch.expression)));

type RawPod = { readonly metadata: object; readonly spec: object };

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** The pod as the policy of the API server leaves it: each mutation sees what the one before did. */
function inProcess(pod: RawPod, params: object): RawPod {
  return MUTATIONS.reduce((before, mutation) => {
    const activation = {
      object: celValue(before),
      request: celValue({ namespace: 'team-a', userInfo: { username: 'alice', groups: [] } }),
      params: celValue({ spec: params }),
      namespaceObject: celValue({ metadata: { labels: {} } }),
    };
    if (!CONDITIONS.every((each) => each.evaluate(activation) === true)) return before;
    const variables: Record<string, unknown> = {};
    for (const { name, expression } of VARIABLES) {
      Object.defineProperty(variables, name, {
        enumerable: true,
        get: () => expression.evaluate({ ...activation, variables }),
      });
    }
    return applyJsonPatch(before, plain(mutation.evaluate({ ...activation, variables })));
  }, pod);
}

function worldOf(specs: readonly object[]) {
  const policies = specs.map((spec, index) => valueOf(decodePriorityPolicy({ metadata: { name: `p${index}` }, spec })));
  const classes = new Map(RULE_CLASSES.map((each) => [each.name, each]));
  const { giving } = compileRules({ policies, quotas: [], classes, mode: 'DryRun', bytesOf: storedBytes });
  return { policies, giving };
}

function byWebhook(pod: RawPod, policies: ReturnType<typeof worldOf>['policies']): RawPod {
  const request = valueOf(decodePodRequest(pod, { name: 'alice', groups: [] }, 'team-a'));
  const decision = decideMutation(request, buildWorld({ classes: RULE_CLASSES, policies }));
  if (decision.kind === 'refused') throw new Error(decision.because.text);
  return decision.change === undefined ? pod : applyJsonPatch(pod, priorityPatch(pod, decision.change));
}

const amounts = fc.record(
  {
    cpu: fc.constantFrom('0', '1', '250m', '1500m', '64', '900e15', '10e39'),
    memory: fc.constantFrom('0', '1Gi', '1536Mi', '1500m', '100M', '12345', '3Ti', '200Ti', '9e18', '10e39'),
    'nvidia.com/gpu': fc.constant('1'),
  },
  { requiredKeys: [] },
);
const resources = fc.oneof(
  { weight: 1, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: amounts.map((requests) => ({ requests })) },
  { weight: 2, arbitrary: amounts.map((all) => ({ requests: all, limits: all })) },
  { weight: 1, arbitrary: fc.constant({ requests: { cpu: '1', 'plimsoll.dev/spare-cpu': '5' } }) },
);
const named = (prefix: string, all: readonly object[]) =>
  all.map((each, index) => ({ name: `${prefix}${index}`, resources: each }));
const className = fc.constantFrom('rule-low', 'rule-standard', 'rule-high-never');
const podArbitrary = fc
  .record({
    containers: fc.array(resources, { minLength: 1, maxLength: 3 }),
    inits: fc.option(fc.array(resources, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    ofPod: fc.option(amounts, { nil: undefined, freq: 3 }),
    className,
    annotations: fc.constantFrom(
      undefined,
      {},
      { a: 'b' },
      { 'plimsoll.dev/spare': 'true' },
      { 'plimsoll.dev/spare': 'yes' },
    ),
  })
  .map(({ containers, inits, ofPod, className: name, annotations }): RawPod => {
    const { value, preemptionPolicy } = RULE_CLASSES.find((each) => each.name === name) ?? {};
    return {
      metadata: { name: 'web', ...(annotations && { annotations }) },
      spec: {
        containers: named('c', containers),
        ...(inits && { initContainers: named('i', inits) }),
        ...(ofPod && { resources: { requests: ofPod } }),
        priorityClassName: name,
        priority: value,
        preemptionPolicy,
      },
    };
  });
const policyArbitrary = fc.record(
  {
    runOn: fc.constantFrom('Spare', 'Either', 'Requested'),
    sparePriorityClassNames: fc.uniqueArray(className, { minLength: 1, maxLength: 2 }),
    defaultPriorityClassName: className,
  },
  { requiredKeys: ['runOn'] },
);

describe('a pod that a policy sends to spare room', () => {
  test(`is the same whether the API server or the webhook moves it, and stays as it is when asked again (seed ${SEED})`, () => {
    const seen = { moved: 0, kept: 0 };
    fc.assert(
      fc.property(fc.array(policyArbitrary, { minLength: 1, maxLength: 3 }), podArbitrary, (specs, pod) => {
        const { policies, giving } = worldOf(specs);
        const wanted = byWebhook(pod, policies);
        const params = giving === undefined ? undefined : encodePriorityRules(giving);
        expect(params === undefined ? pod : inProcess(pod, params)).toEqual(wanted);
        expect(byWebhook(wanted, policies)).toEqual(wanted);
        seen[wanted === pod ? 'kept' : 'moved'] += 1;
      }),
      { seed: SEED, numRuns: RUNS },
    );
    expect(Math.min(seen.moved, seen.kept)).toBeGreaterThan(RUNS / 10);
  });

  test('keeps its requests beside a policy that says nothing, and goes where one of several grants it', () => {
    const pod = {
      metadata: { name: 'web', annotations: { 'plimsoll.dev/spare': 'true' } },
      spec: {
        containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }],
        priorityClassName: 'rule-low',
        priority: 10,
        preemptionPolicy: 'PreemptLowerPriority',
      },
    };
    const room = (specs: readonly object[]) =>
      JSON.stringify(byWebhook(pod, worldOf(specs).policies)).includes('spare-cpu') ? 'spare' : 'requested';
    expect([
      room([]),
      room([{ maxPriority: 10 }]),
      room([{ maxPriority: 10 }, { runOn: 'Either' }]),
      room([{ runOn: 'Spare', sparePriorityClassNames: ['rule-high'] }]),
      room([{ runOn: 'Either', sparePriorityClassNames: ['rule-low'] }]),
    ]).toEqual(['requested', 'requested', 'spare', 'requested', 'spare']);
  });
});
