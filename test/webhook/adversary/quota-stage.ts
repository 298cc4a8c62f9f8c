import { expect } from 'vitest';
import { PRIORITY_QUOTAS } from '#test/cluster/admission/support/cluster-objects.ts';
import { at, type Harness } from '#test/contract/harness.ts';
import type { Stage } from './stage.ts';
import { eventually } from '#test/build/waiting.ts';

/** A PriorityQuota that both namespaces of the stage share. */
export interface SharedQuota {
  /** What its ledger says: `status.used` and the number of reservations. */
  ledger(): Promise<{ readonly used: unknown; readonly reservations: number }>;
  remove(): Promise<unknown>;
}

const ENFORCED = 'plimsoll.dev/priority-quota';

/** Puts the pods of a class in both namespaces under one quota, and waits until the webhook has counted it. */
export async function shareQuota(
  stage: Stage,
  priorityClassName: string,
  hard: Readonly<Record<string, string>>,
): Promise<SharedQuota> {
  const { tenant, honest, objects } = stage;
  await Promise.all([tenant, honest].map(enforceQuotas));
  const namespaceSelector = { matchExpressions: [either(tenant, honest)] };
  const spec = { namespaceSelector, priorityClassNames: [priorityClassName], hard };
  const path = `${PRIORITY_QUOTAS}/${await objects.priorityQuota('shared', spec)}`;
  const ledger = async () => {
    const { body } = await tenant.get(path);
    const reservations = (at(body, 'status.reservations') ?? []) as readonly unknown[];
    return { used: at(body, 'status.used'), reservations: reservations.length };
  };
  await eventually(async () => expect((await ledger()).used).toBeDefined(), 20_000);
  return { ledger, remove: () => tenant.remove(path) };
}

async function enforceQuotas(api: Harness): Promise<void> {
  const metadata = { labels: { [ENFORCED]: 'enforced' } };
  const { status } = await api.patch(`/api/v1/namespaces/${api.namespace}`, { metadata }, 'merge');
  expect(status).toBe(200);
}

function either(...namespaces: readonly Harness[]): object {
  return {
    key: 'kubernetes.io/metadata.name',
    operator: 'In',
    values: namespaces.map(({ namespace }) => namespace),
  };
}
