/*
 * Every service account that deploy/ creates, and what each may do. The admission policies for our own accounts, the
 * webhook's rules for their removals and the rights that `plimsoll check` looks for come from this list;
 * test/deploy/accounts.test.ts compares it with the roles in deploy/.
 */
import { serviceAccountUser } from '#shared/domain/priority/classes-and-policies.ts';
import {
  COMPONENT_NAMES,
  NAMESPACE_NODE,
  NAMESPACE_SYSTEM,
  QUEUE_LEADER,
  type REPORTING_CONTROLLERS,
  RESCHEDULER,
  SECOND_SCHEDULER,
} from '#shared/kube/api-names.ts';
import { type Right, RIGHTS } from './rights.ts';

export interface OwnAccount {
  readonly namespace: string;
  readonly name: string;
  /** As the API server names it. */
  readonly user: string;
  /** The folder of deploy/ that creates it. */
  readonly folder: string;
  /** Under which name it writes Events; absent if it writes none. */
  readonly reportsAs?: keyof typeof REPORTING_CONTROLLERS;
  /** Which pods it may evict; absent if none. The agent: of its own node. Queues: of managed namespaces. */
  readonly evicts?: 'OfOwnNode' | 'OfManagedNamespaces' | 'OfAnyNode';
  /** Deletes pods, as every scheduler does to preempt. */
  readonly preempts?: true;
  /** The part of the spec of a NodePressure that it may change; absent if none. */
  readonly pressureField?: 'avoid' | 'preemptionLoops';
  readonly rights: readonly Right[];
}

export const ACCOUNTS = {
  webhook: account({
    name: COMPONENT_NAMES.webhook,
    folder: 'base/webhook',
    reportsAs: 'webhook',
    rights: RIGHTS.webhook,
  }),
  agent: account({
    namespace: NAMESPACE_NODE,
    name: COMPONENT_NAMES.agent,
    folder: 'base/agent',
    reportsAs: 'agent',
    evicts: 'OfOwnNode',
    rights: RIGHTS.agent,
  }),
  nodeController: account({
    name: COMPONENT_NAMES.scheduler,
    folder: 'components/node-controller',
    reportsAs: 'scheduler',
    pressureField: 'avoid',
    rights: RIGHTS.nodeController,
  }),
  queues: account({
    name: QUEUE_LEADER,
    folder: 'components/queues',
    reportsAs: 'scheduler',
    evicts: 'OfManagedNamespaces',
    rights: RIGHTS.queues,
  }),
  rescheduling: account({
    name: RESCHEDULER,
    folder: 'components/rescheduling',
    reportsAs: 'scheduler',
    evicts: 'OfAnyNode',
    pressureField: 'avoid',
    rights: RIGHTS.rescheduling,
  }),
  disruptions: account({
    name: 'plimsoll-disruptions',
    folder: 'components/disruption-record',
    rights: RIGHTS.disruptions,
  }),
  secondScheduler: account({
    name: SECOND_SCHEDULER,
    folder: 'components/scheduler-second',
    reportsAs: 'scheduler',
    preempts: true,
    pressureField: 'preemptionLoops',
    rights: RIGHTS.secondScheduler,
  }),
  controlPlaneExtender: account({
    namespace: NAMESPACE_NODE,
    name: 'plimsoll-control-plane-extender',
    folder: 'components/control-plane-extender',
    reportsAs: 'scheduler',
    pressureField: 'preemptionLoops',
    rights: RIGHTS.controlPlaneExtender,
  }),
  dashboard: account({ name: 'plimsoll-dashboard', folder: 'components/dashboard', rights: RIGHTS.dashboard }),
} as const;

export const ALL_ACCOUNTS: readonly OwnAccount[] = Object.values(ACCOUNTS);

type Stated = Omit<OwnAccount, 'user' | 'namespace'> & { readonly namespace?: string };

function account<T extends Stated>(stated: T): T & Pick<OwnAccount, 'user' | 'namespace'> {
  const { namespace = NAMESPACE_SYSTEM, name } = stated;
  return { ...stated, namespace, user: serviceAccountUser({ namespace, name }) };
}
