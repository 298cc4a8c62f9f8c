import { expect, test } from 'vitest';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { COMBINATIONS, policiesMet, renderedSets, SWITCHES, type Write } from './rendered-sets.ts';

const installed = renderedSets();

/** The namespace that meets most policies. */
const NAMESPACE = new Map([
  ['kubernetes.io/metadata.name', 'shop'],
  ['plimsoll.dev/queues', 'managed'],
  ['plimsoll.dev/priority-quota', 'enforced'],
]);
/** Another one, by the label for all parts. */
const MANAGED = new Map([
  ['kubernetes.io/metadata.name', 'shop'],
  ['plimsoll.dev/managed', 'true'],
]);

/** The policies that a write meets in either namespace, by kind; a policy whose bindings judge it twice stands twice. */
function met(objects: readonly Manifest[], kind: string, write: Omit<Write, 'namespace'>): readonly string[] {
  const [byOwn = [], byManaged = []] = [NAMESPACE, MANAGED].map((namespace) => {
    // The rules that warn are in an object of their own, which exists only with a policy that warns.
    const found = policiesMet(objects, kind, { ...write, namespace });
    return found.filter(({ binding }) => !binding.metadata.name.startsWith('warnings.')).map(({ policy }) => policy);
  });
  expect(byManaged).toEqual(byOwn);
  return byOwn;
}

const WRITES: readonly (readonly [string, Omit<Write, 'namespace'>, readonly string[]])[] = [
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
  expect(names).toEqual(['guard.queues.plimsoll.dev', 'managed.guard.queues.plimsoll.dev', 'mark.queues.plimsoll.dev']);
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
