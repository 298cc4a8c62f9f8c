import type { NodePolicy } from './decode-policy.ts';
import { type Mode, type AgentPolicy, DEFAULT_POLICY } from './policy.ts';
import { type NamedPolicy, type Selection, selectPolicy } from './select-policy.ts';

/** The last readable form of each policy, by name; for one that became unreadable, the agent still reports by it. */
export type LastValid = ReadonlyMap<string, NodePolicy>;

/** Removes deleted policies and takes in those that can be read. */
export function keepLastValid(previous: LastValid, policies: readonly NamedPolicy[]): LastValid {
  const entries = policies.map(({ name, decoded }) => [name, decoded.ok ? decoded.value : previous.get(name)] as const);
  return new Map(entries.filter((entry): entry is readonly [string, NodePolicy] => entry[1] !== undefined));
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

/**
 * The policy in force on this node. Nothing is enforced while it is unknown which policy applies, or while that policy
 * cannot be read; its last readable settings then say what would be done.
 */
export function policyInForce(query: PolicyQuery): AgentPolicy {
  const { configured, policies, labels = new Map() } = query;
  const selection = selectPolicy(policies, labels);
  const settings = settingsOf(selection, query);
  const policy = settings ?? { ...DEFAULT_POLICY, mode: configured === 'Enforce' ? 'Enforce' : 'DryRun' };
  const isCapped = configured === 'DryRun' || selection.kind === 'unreadable' || isSomethingUnknown(query);
  return isCapped ? { ...policy, mode: 'DryRun' } : policy;
}

function isSomethingUnknown({ arePoliciesRead, policies, labels }: PolicyQuery): boolean {
  return !arePoliciesRead || (labels === undefined && policies.length > 0);
}

/** For a policy that could never be read, the settings of the readable policy that comes next. */
function settingsOf(selection: Selection, { policies, lastValid, labels = new Map() }: PolicyQuery) {
  if (selection.kind === 'none') return undefined;
  if (selection.kind === 'selected') return selection.policy.policy;
  const last = lastValid.get(selection.name);
  if (last !== undefined) return last.policy;
  const next = selectPolicy(
    policies.filter(({ decoded }) => decoded.ok),
    labels,
  );
  return next.kind === 'selected' ? next.policy.policy : undefined;
}
