import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import type { NodePolicy, PolicyScope } from './decode-policy.ts';
import { type AgentPolicy, DEFAULT_POLICY } from './policy.ts';
import type { Mode } from './mode.ts';

/** A NodePressurePolicy by name, with what could be read of it. */
export interface NamedPolicy {
  readonly name: string;
  readonly decoded: Decoded<NodePolicy>;
  /** Which nodes it selects; this may be readable when the rest is not. */
  readonly scope: Decoded<PolicyScope>;
}

/** The last readable form of each policy, by name: a policy that becomes unreadable keeps its last form. */
export type LastValid = ReadonlyMap<string, NodePolicy>;

/** Removes deleted policies and takes in those that can be read. */
export function keepLastValid(previous: LastValid, policies: readonly NamedPolicy[]): LastValid {
  const entries = policies.map(({ name, decoded }) => [name, decoded.ok ? decoded.value : previous.get(name)] as const);
  return new Map(entries.filter((entry): entry is readonly [string, NodePolicy] => entry[1] !== undefined));
}

function selects({ nodeSelector }: PolicyScope, labels: ReadonlyMap<string, string>): boolean {
  return nodeSelector === undefined || prepareSelector(nodeSelector).matches(labels);
}

/**
 * Of several policies that select a node, the one with the highest order applies as a whole, then the first by name.
 */
export function selectPolicy(valid: LastValid, labels: ReadonlyMap<string, string>): NodePolicy | undefined {
  const fitting = [...valid.values()].filter((each) => selects(each, labels));
  return fitting.toSorted((left, right) => (isBefore(placeOf(left), placeOf(right)) ? -1 : 1))[0];
}

interface Place {
  readonly order: number;
  readonly name: string;
}

function placeOf({ order, policy: { name } }: NodePolicy): Place {
  return { order, name };
}

function isBefore(left: Place, right: Place): boolean {
  return left.order === right.order ? left.name < right.name : left.order > right.order;
}

/** `mode` of the agent's own settings: `Policy` leaves it to the NodePressurePolicy. */
export type ConfiguredMode = 'Policy' | Mode;

export interface PolicyQuery {
  /** Whether the policies of the cluster have been read once. */
  readonly arePoliciesRead: boolean;
  /** `DryRun` overrides every policy; `Enforce` applies to nodes without a policy. */
  readonly configured: ConfiguredMode;
  readonly policies: readonly NamedPolicy[];
  readonly lastValid: LastValid;
  /** Of this node; `undefined` while the Node object has not been read. */
  readonly labels: ReadonlyMap<string, string> | undefined;
}

/** Nothing is enforced while it is unknown which policy applies to this node. */
function isSomethingUnknown(query: PolicyQuery, selected: NodePolicy | undefined): boolean {
  const { arePoliciesRead, policies, lastValid, labels } = query;
  if (!arePoliciesRead) return true;
  if (labels === undefined) return policies.length > 0;
  return policies.some((each) => !lastValid.has(each.name) && mayHold(each, labels, selected));
}

/** Whether a policy that never could be read may apply to this node, as far as its scope can be read. */
function mayHold({ name, scope }: NamedPolicy, labels: ReadonlyMap<string, string>, selected: NodePolicy | undefined) {
  if (!scope.ok) return true;
  const isBehind = selected !== undefined && isBefore(placeOf(selected), { order: scope.value.order, name });
  return selects(scope.value, labels) && !isBehind;
}

/** The policy in force on this node. */
export function policyInForce(query: PolicyQuery): AgentPolicy {
  const { configured, lastValid, labels } = query;
  const selected = selectPolicy(lastValid, labels ?? new Map());
  const policy = selected?.policy ?? { ...DEFAULT_POLICY, mode: configured === 'Enforce' ? 'Enforce' : 'DryRun' };
  const isCapped = configured === 'DryRun' || isSomethingUnknown(query, selected);
  return isCapped ? { ...policy, mode: 'DryRun' } : policy;
}
