import { expect, test } from 'vitest';
import { NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { itemsOf } from '#shared/kube/decode/wire-object.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { COMBINATIONS, matchesWrite, policiesMet, renderedSets, SWITCHES, type Write } from './rendered-sets.ts';

const installed = renderedSets();
const PARTS = Object.values(NAMESPACE_SWITCHES);
const MANAGED = ['plimsoll.dev/managed', 'true'] as const;

const CORE = ['pods', 'pods/status', 'pods/resize', 'pods/binding', 'pods/eviction', 'bindings'];
const WRITES: readonly Omit<Write, 'namespace'>[] = [
  ...['CREATE', 'UPDATE', 'DELETE'].flatMap((operation) => [
    ...CORE.map((resource) => ({ resource, operation })),
    { resource: 'pods', operation, labels: { 'plimsoll.dev/queue': 'a' } },
    ...['deployments', 'statefulsets', 'replicasets'].map((resource) => ({ resource, operation, group: 'apps' })),
    { resource: 'jobs', operation, group: 'batch' },
    { resource: 'poddisruptionbudgets', operation, group: 'policy' },
    { resource: 'podgroups', operation, group: 'scheduling.k8s.io' },
  ]),
];

/** Each rule that a write meets, with all by which it judges, but not by which label it was selected; sorted. */
function rules(objects: readonly Manifest[], write: Write): readonly string[] {
  const policies = ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'].flatMap((kind) =>
    policiesMet(objects, kind, write).map(({ policy, binding }) => {
      return [kind, policy, { ...(at(binding, 'spec') as object), matchResources: undefined }];
    }),
  );
  const entries = objects
    .filter(({ kind }) => kind.endsWith('WebhookConfiguration'))
    .flatMap((each) => itemsOf(at(each, 'webhooks')).map((entry) => [each.kind, entry] as const))
    .filter(([, entry]) => matchesWrite(entry, at(entry, 'rules'), write))
    .map(([kind, entry]) => {
      const name = textAt(entry, 'name').replace(/^managed\./, '');
      return [kind, { ...(entry as object), name, namespaceSelector: undefined }];
    });
  return [...policies, ...entries].map((each) => JSON.stringify(each)).toSorted();
}

function namespace(...labels: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  return new Map([['kubernetes.io/metadata.name', 'shop'], ...labels]);
}

/** Each part without its label, with the value that is on, and with one that is not. */
const OWN = PARTS.reduce<readonly (readonly (readonly [string, string])[])[]>(
  (sets, { key, on }) => sets.flatMap((set) => [set, ...[on, 'false'].map((value) => [...set, [key, value] as const])]),
  [[]],
);

/** Those of a namespace with these labels and the one for all parts, and of one with all labels spelt out. */
function bothRules(objects: readonly Manifest[], own: (typeof OWN)[number], write: Omit<Write, 'namespace'>) {
  const absent = PARTS.filter(({ key }) => !own.some(([name]) => name === key));
  const spelt = namespace(...own, ...absent.map(({ key, on }) => [key, on] as const));
  return [namespace(...own, MANAGED), spelt].map((labels) => rules(objects, { ...write, namespace: labels }));
}

/** Where the queues are off by their own label, the policy over marks has its parameter and looks at the namespace. */
function withoutGuard(found: readonly string[] | undefined): readonly string[] | undefined {
  return found?.map((each) => each.replace(/,"paramRef":\{"name":"guard\.[^}]*\}/, ''));
}

test('with any parts, the label for all of them means the label of each', () => {
  for (const switches of COMBINATIONS) {
    const objects = installed(switches);
    for (const write of WRITES) {
      const [managed, spelt] = bothRules(objects, [], write);
      expect([switches, write, managed]).toEqual([switches, write, spelt]);
    }
  }
});

test('the label of a part wins over the one for all, and no rule judges a write twice', () => {
  const objects = installed(SWITCHES);
  for (const own of OWN)
    for (const write of WRITES) {
      const [managed, spelt] = bothRules(objects, own, write);
      expect([own, write, withoutGuard(managed)]).toEqual([own, write, withoutGuard(spelt)]);
      expect(new Set(managed).size).toBe(managed?.length);
    }
});

test('another value of the label for all parts is none', () => {
  const objects = installed(SWITCHES);
  const [other, none] = [namespace(['plimsoll.dev/managed', 'yes']), namespace()];
  for (const write of WRITES)
    expect(rules(objects, { ...write, namespace: other })).toEqual(rules(objects, { ...write, namespace: none }));
});
