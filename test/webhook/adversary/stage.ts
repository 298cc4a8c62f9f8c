import { afterAll, beforeAll } from 'vitest';
import { asUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects, onlyIn, type ClusterObjects } from '#test/cluster/admission/support/cluster-objects.ts';
import type { WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { contractHarness, type ContractTarget, type Harness, uniqueName } from '#test/contract/harness.ts';

/** An API server that calls the webhook as it is shipped, in a process of its own. */
export interface Surface {
  readonly target: () => ContractTarget;
  readonly webhook: () => WebhookProcess;
}

/** The scene of an attack: a tenant with the `edit` role in one namespace, and honest users in another. */
export interface Stage extends Surface {
  /** The namespace of the tenant. A PriorityPolicy lets it use `permitted` and no other class. */
  readonly tenant: Harness;
  /** The namespace of honest users, who may use every class. */
  readonly honest: Harness;
  readonly objects: ClusterObjects;
  /** Sends requests with the rights of the tenant. */
  readonly attacker: () => AsUser;
  /** Names of priority classes; known once the hooks of the stage have run. */
  readonly classes: { permitted: string; forbidden: string };
}

/** The name of the attacker. */
export const ATTACKER = 'mallory';
const FORBIDDEN_VALUE = 1_000_000;

/** Registers hooks of the present `describe` that make both namespaces, the classes and the policy. */
export function stage(surface: Surface): Stage {
  const [tenant, honest] = [contractHarness(surface.target), contractHarness(surface.target)];
  const objects = clusterObjects(tenant);
  const classes = { permitted: '', forbidden: '' };
  const bindings = tenant.core('rolebindings').replace('/api/v1', '/apis/rbac.authorization.k8s.io/v1');
  beforeAll(async () => {
    await tenant.post(bindings, editRoleBinding());
    classes.permitted = await objects.priorityClass('permitted', 1);
    classes.forbidden = await objects.priorityClass('forbidden', FORBIDDEN_VALUE);
    const allowedPriorityClassNames = [classes.permitted];
    await objects.policy('tenant', { namespaceSelector: onlyIn(tenant), allowedPriorityClassNames });
  });
  afterAll(() => tenant.remove(`${bindings}/edit`));
  return {
    ...surface,
    tenant,
    honest,
    objects,
    classes,
    attacker: () => asUser(surface.target().connection, ATTACKER),
  };
}

function editRoleBinding(): object {
  return {
    metadata: { name: 'edit' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: ATTACKER }],
  };
}

/** A pod in the tenant's namespace with a class that the policy forbids. */
export function forbiddenPod({ classes }: Stage, spec: object = {}, metadata: object = {}): object {
  return podOf(classes.forbidden, spec, metadata);
}

/** A pod that both namespaces may have. */
export function permittedPod({ classes }: Stage, spec: object = {}, metadata: object = {}): object {
  return podOf(classes.permitted, spec, metadata);
}

function podOf(priorityClassName: string, spec: object, metadata: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uniqueName('pod'), ...metadata },
    spec: {
      schedulerName: 'none',
      terminationGracePeriodSeconds: 0,
      priorityClassName,
      containers: [{ name: 'main', image: 'registry.test/idle:1' }],
      ...spec,
    },
  };
}
