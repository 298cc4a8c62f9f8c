import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { selectorOf } from '#sandbox/api-server/selectors/label-query.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import { at, textAt } from '#test/contract/harness.ts';

/** What an installation may add to `deploy/base`, each on or off; the last three with the controller. */
export const SWITCHES = ['api-server-defaults', 'control-plane-extender', 'node-controller', 'queues', 'rescheduling'];
const OF_CONTROLLER = ['node-controller', 'queues', 'rescheduling'];
export const COMBINATIONS = Array.from({ length: 2 ** SWITCHES.length }, (_, bits) =>
  SWITCHES.filter((__, index) => (bits >> index) % 2 === 1),
);

/** Registers a hook of the present file; returns what an installation with these parts applies. */
export function renderedSets(): (switches: readonly string[]) => readonly Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-policies-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const read: Parameters<typeof buildFolder>[1] = new Map();
  return (switches) => {
    const parts = switches.some((each) => OF_CONTROLLER.includes(each)) ? ['controller', ...switches] : switches;
    const components = parts.map((each) => relative(folder, resolve('deploy/components', each)));
    const head = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };
    const kustomization = { ...head, resources: [relative(folder, resolve('deploy/base'))], components };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    return buildFolder(folder, read);
  };
}

export interface Write {
  readonly resource: string;
  readonly operation: string;
  /** Of the core group by default. */
  readonly group?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Of the namespace. */
  readonly namespace: ReadonlyMap<string, string>;
}

/** Whether a policy, its binding or an entry of a webhook matches a write, before conditions, for which the API server turns the object into maps. */
export function matchesWrite(match: unknown, rules: unknown, write: Write): boolean {
  const { resource, operation, group = '', labels = {}, namespace } = write;
  const named = ((rules ?? []) as readonly Readonly<Record<string, readonly string[]>>[]).map(
    ({ apiGroups = [], resources = [], operations = [] }) =>
      apiGroups.includes(group) && resources.includes(resource) && operations.includes(operation),
  );
  const isSelected = (field: string, by: ReadonlyMap<string, string>): boolean =>
    selectorOf(at(match, field) ?? {}).matches(by);
  return (
    (named.length === 0 || named.includes(true)) &&
    isSelected('namespaceSelector', namespace) &&
    isSelected('objectSelector', new Map(Object.entries(labels)))
  );
}

/** A policy and the binding by which it judges a write. */
export interface Met {
  readonly policy: string;
  readonly binding: Manifest;
}

/** The policies that a write meets, by kind; a policy whose bindings judge it twice stands twice. */
export function policiesMet(objects: readonly Manifest[], kind: string, write: Write): readonly Met[] {
  const policies = objects.filter((each) => {
    const match = at(each, 'spec.matchConstraints');
    return each.kind === kind && matchesWrite(match, at(match, 'resourceRules'), write);
  });
  return policies.flatMap(({ metadata: { name } }) =>
    objects
      .filter((each) => each.kind === `${kind}Binding` && textAt(each, 'spec.policyName') === name)
      .filter((each) => {
        const match = at(each, 'spec.matchResources') ?? {};
        return matchesWrite(match, at(match, 'resourceRules'), write);
      })
      .map((binding) => ({ policy: name, binding })),
  );
}
