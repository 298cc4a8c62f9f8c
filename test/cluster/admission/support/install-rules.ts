import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  ADMISSION_POLICIES,
  ADMISSION_POLICY_BINDINGS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
} from '#shared/kube/resource.ts';
import { PRIORITY_RULES_NAMES } from '#shared/kube/api-names.ts';
import { at, type Harness } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import { RULES } from './cluster-objects.ts';
import { eventually } from '#test/build/waiting.ts';

const CRDS = fileURLToPath(new URL('../../../../deploy/crds/', import.meta.url));
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const RESOURCES = [ADMISSION_POLICIES, ADMISSION_POLICY_BINDINGS, MUTATING_POLICIES, MUTATING_POLICY_BINDINGS];

/**
 * Installs our kinds and the policies with which the API server itself enforces rules. Returns how to remove the
 * policies and the compiled rules, which would affect later tests; the kinds stay.
 */
export async function installRules(
  api: Harness,
  objects: readonly KubeObject[] = rulePolicies(),
): Promise<() => Promise<void>> {
  await applyDefinitions(api);
  const policies = objects.map((object) => ({ object, path: pathOf(object) }));
  for (const { path, object } of policies) await apply(api, path, object);
  const rules = Object.values(PRIORITY_RULES_NAMES).map((name) => `${RULES}/${name}`);
  return async () => {
    for (const path of [...policies.map(({ path: each }) => each), ...rules]) await api.remove(path);
  };
}

function pathOf({ kind, metadata: { name = '' } }: KubeObject): string {
  const plural = RESOURCES.find((each) => each.kind === kind)?.plural ?? '';
  return `${ADMISSION}/${plural}/${name}`;
}

async function applyDefinitions(api: Harness): Promise<void> {
  for (const file of readdirSync(CRDS).filter((name) => name.startsWith('plimsoll.dev_'))) {
    const definition = parse(readFileSync(`${CRDS}${file}`, 'utf8')) as Definition;
    await apply(api, `${DEFINITIONS}/${definition.metadata.name}`, definition);
    // For a moment, a new kind answers that its storage is initializing.
    const collection = `/apis/plimsoll.dev/v1alpha1/${definition.spec.names.plural}`;
    await eventually(async () => expect((await api.get(collection)).status).toBe(200));
  }
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly names: { readonly plural: string } };
}

async function apply(api: Harness, path: string, object: object): Promise<void> {
  const applied = await api.patch(path, object, 'apply', { query: { fieldManager: 'test', force: true } });
  expect([applied.status, at(applied.body, 'message')]).toEqual([expect.toBeOneOf([200, 201]), undefined]);
}
