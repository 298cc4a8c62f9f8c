/*
 * Every service account that deploy/ creates, and what each may do. The admission policies for our own accounts, the
 * webhook's rules for their removals and the rights that `plimsoll check` looks for come from this list;
 * test/deploy/accounts.test.ts compares it with the roles in deploy/.
 */
import { serviceAccountUser } from '#shared/domain/priority/classes-and-policies.ts';
import {
  COMPONENT_NAMES,
  CONTROLLER,
  NAMESPACE_NODE,
  NAMESPACE_SYSTEM,
  type REPORTING_CONTROLLERS,
  SECOND_SCHEDULER,
} from '#shared/kube/api-names.ts';
import { PART_RIGHTS, type Right, RIGHTS } from './rights.ts';

export interface OwnAccount {
  readonly namespace: string;
  readonly name: string;
  /** As the API server names it. */
  readonly user: string;
  /** The folder of deploy/ that creates it. */
  readonly folder: string;
  /** Under which name it writes Events; absent if it writes none. */
  readonly reportsAs?: keyof typeof REPORTING_CONTROLLERS;
  /** Which pods it may evict; absent if none. By part: those of managed namespaces for queues, any for rescheduling. */
  readonly evicts?: 'OfOwnNode' | 'ByPart';
  /** Its users in earlier builds. They are held to the same rules, and work until their Deployments are gone. */
  readonly formerUsers?: readonly string[];
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
  controller: account({
    name: CONTROLLER,
    folder: 'components/controller',
    reportsAs: 'scheduler',
    evicts: 'ByPart',
    pressureField: 'avoid',
    rights: [...RIGHTS.controller, ...Object.values(PART_RIGHTS).flat()],
    formerUsers: ['scheduler', 'queues', 'rescheduling', 'disruptions', 'dashboard'].map(formerUser),
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
} as const;

export const ALL_ACCOUNTS: readonly OwnAccount[] = Object.values(ACCOUNTS);

/** What ran the parts of the controller in earlier builds. */
export const FORMER_DEPLOYMENTS = ['node-controller', 'disruptions', 'queues', 'rescheduling', 'dashboard'].map(
  (part) => `plimsoll-${part}`,
);

/** The account that made room for queues in earlier builds: its Evictions do not say for which part they are. */
export const FORMER_QUEUES_USER = formerUser('queues');

/** What a folder of deploy/components adds to the controller, and the variable that turns it on. */
export interface ControllerPartRights {
  readonly name: keyof typeof PART_RIGHTS;
  readonly folder: string;
  readonly variable: string;
}

export const CONTROLLER_PARTS: readonly ControllerPartRights[] = [
  part('nodes', 'node-controller', 'NODES_PASSES'),
  part('disruptions', 'disruption-record', 'DISRUPTIONS_RECORD'),
  part('queues', 'queues', 'QUEUES_PASSES'),
  part('rescheduling', 'rescheduling', 'RESCHEDULING_PASSES'),
  part('dashboard', 'dashboard', 'DASHBOARD__PORT'),
];

function part(name: keyof typeof PART_RIGHTS, folder: string, variable: string): ControllerPartRights {
  return { name, folder: `components/${folder}`, variable: `PLIMSOLL_${variable}` };
}

/** The API server's names of an account: its own, and those of earlier builds. */
export function usersOf({ user, formerUsers = [] }: Pick<OwnAccount, 'user' | 'formerUsers'>): readonly string[] {
  return [user, ...formerUsers];
}

function formerUser(component: string): string {
  return serviceAccountUser({ namespace: NAMESPACE_SYSTEM, name: `plimsoll-${component}` });
}

type Stated = Omit<OwnAccount, 'user' | 'namespace'> & { readonly namespace?: string };

function account<T extends Stated>(stated: T): T & Pick<OwnAccount, 'user' | 'namespace'> {
  const { namespace = NAMESPACE_SYSTEM, name } = stated;
  return { ...stated, namespace, user: serviceAccountUser({ namespace, name }) };
}
