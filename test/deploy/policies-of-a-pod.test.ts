import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { selectorOf } from '#sandbox/api-server/selectors/label-query.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import { at, textAt } from '#test/contract/harness.ts';

/** What an installation may add to `deploy/base`, each on or off; the last three with the controller. */
const SWITCHES = ['api-server-defaults', 'control-plane-extender', 'node-controller', 'queues', 'rescheduling'];
const OF_CONTROLLER = ['node-controller', 'queues', 'rescheduling'];
const COMBINATIONS = Array.from({ length: 2 ** SWITCHES.length }, (_, bits) =>
  SWITCHES.filter((__, index) => (bits >> index) % 2 === 1),
);

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-policies-'));
afterAll(() => rmSync(folder, { recursive: true }));
const read: Parameters<typeof buildFolder>[1] = new Map();

function installed(switches: readonly string[]): readonly Manifest[] {
  const parts = switches.some((each) => OF_CONTROLLER.includes(each)) ? ['controller', ...switches] : switches;
  const components = parts.map((each) => relative(folder, resolve('deploy/components', each)));
  const head = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };
  const kustomization = { ...head, resources: [relative(folder, resolve('deploy/base'))], components };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  return buildFolder(folder, read);
}

interface Write {
  readonly resource: string;
  readonly operation: 'CREATE' | 'UPDATE';
  readonly labels?: Readonly<Record<string, string>>;
}

/** The namespace that meets most policies. */
const NAMESPACE = new Map([
  ['kubernetes.io/metadata.name', 'shop'],
  ['plimsoll.dev/queues', 'managed'],
  ['plimsoll.dev/priority-quota', 'enforced'],
]);

/** Whether a policy or its binding matches a write, before conditions, for which the API server turns the pod into maps. */
function matches(match: unknown, { resource, operation, labels = {} }: Write): boolean {
  const rules = (at(match, 'resourceRules') ?? []) as readonly Readonly<Record<string, readonly string[]>>[];
  const named = rules.some(
    ({ apiGroups = [], resources = [], operations = [] }) =>
      apiGroups.includes('') && resources.includes(resource) && operations.includes(operation),
  );
  const isSelected = (field: string, by: ReadonlyMap<string, string>): boolean =>
    selectorOf(at(match, field) ?? {}).matches(by);
  return (
    (named || rules.length === 0) &&
    isSelected('namespaceSelector', NAMESPACE) &&
    isSelected('objectSelector', new Map(Object.entries(labels)))
  );
}

/** The policies that a write meets, by kind; a policy whose bindings judge it twice stands twice. */
function met(objects: readonly Manifest[], kind: string, write: Write): readonly string[] {
  const policies = objects.filter((each) => each.kind === kind && matches(at(each, 'spec.matchConstraints'), write));
  return policies.flatMap(({ metadata: { name } }) => {
    const bindings = objects.filter(
      (each) => each.kind === `${kind}Binding` && textAt(each, 'spec.policyName') === name,
    );
    const bound = bindings.filter((each) => matches(at(each, 'spec.matchResources') ?? {}, write));
    // The rules that warn are in an object of their own, which exists only with a policy that warns.
    return bound.filter((each) => !textAt(each, 'metadata.name').startsWith('warnings.')).map(() => name);
  });
}

const WRITES: readonly (readonly [string, Write, readonly string[]])[] = [
  ['a new pod', { resource: 'pods', operation: 'CREATE' }, ['mark.queues.plimsoll.dev', 'priority.plimsoll.dev']],
  ['a change', { resource: 'pods', operation: 'UPDATE' }, ['mark.queues.plimsoll.dev', 'records.plimsoll.dev']],
];

test.each(WRITES)('%s meets at most two validating policies, with any parts', (_, write, all) => {
  for (const switches of COMBINATIONS) {
    const found = met(installed(switches), 'ValidatingAdmissionPolicy', write);
    expect([switches, found.filter((name) => !all.includes(name)), found.length <= 2]).toEqual([switches, [], true]);
  }
  expect(met(installed(SWITCHES), 'ValidatingAdmissionPolicy', write).toSorted()).toEqual(all);
});

test('an upgrade binds the policy of marks where pods wait before its other binding leaves those namespaces out', () => {
  const names = installed(SWITCHES)
    .filter((each) => at(each, 'spec.policyName') === 'mark.queues.plimsoll.dev')
    .map((each) => textAt(each, 'metadata.name'));
  expect(names).toEqual(['guard.queues.plimsoll.dev', 'mark.queues.plimsoll.dev']);
});

test('a status meets one policy more, where the extender runs on control planes', () => {
  const write = { resource: 'pods/status', operation: 'UPDATE' } as const;
  const found = met(installed(SWITCHES), 'ValidatingAdmissionPolicy', write);
  expect(found.filter((name) => !WRITES[1]?.[2].includes(name))).toEqual([
    'plimsoll-control-plane-extender-nominations',
  ]);
});

test('a pod that names a queue meets one policy more', () => {
  const write = { resource: 'pods', operation: 'CREATE', labels: { 'plimsoll.dev/queue': 'a' } } as const;
  const found = met(installed(SWITCHES), 'ValidatingAdmissionPolicy', write);
  expect(found.filter((name) => !WRITES[0]?.[2].includes(name))).toEqual(['label.queues.plimsoll.dev']);
});

test('the gate depends on no object of ours, because a pod without it is refused', () => {
  const gate = installed(SWITCHES).find(({ kind, metadata }) => {
    return kind === 'MutatingAdmissionPolicy' && metadata.name === 'gate.queues.plimsoll.dev';
  });
  expect([at(gate, 'spec.failurePolicy'), at(gate, 'spec.paramKind')]).toEqual(['Ignore', undefined]);
});

test('only the gate and the defaults change new pods', () => {
  const found = met(installed(SWITCHES), 'MutatingAdmissionPolicy', { resource: 'pods', operation: 'CREATE' });
  expect(found.toSorted()).toEqual(['defaults.plimsoll.dev', 'gate.queues.plimsoll.dev']);
});
