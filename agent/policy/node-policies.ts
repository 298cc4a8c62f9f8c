import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import type { Decoded } from '#shared/kube/decoded.ts';
import type { NodePolicy } from './decode-policy.ts';
import { type AgentPolicy, DEFAULT_POLICY } from './policy.ts';
import type { Mode } from '#agent/mode.ts';

/** A NodePressurePolicy by name, as it could be read. */
export interface NamedPolicy {
  readonly name: string;
  readonly decoded: Decoded<NodePolicy>;
}

/** The last readable form of each policy, by name: one that becomes unreadable stays as it was (B-38). */
export type LastValid = ReadonlyMap<string, NodePolicy>;

/** Forgets policies that are gone, and takes in what can be read. */
export function keepLastValid(previous: LastValid, policies: readonly NamedPolicy[]): LastValid {
  const entries = policies.map(({ name, decoded }) => [name, decoded.ok ? decoded.value : previous.get(name)] as const);
  return new Map(entries.filter((entry): entry is readonly [string, NodePolicy] => entry[1] !== undefined));
}

function selects({ nodeSelector }: NodePolicy, labels: ReadonlyMap<string, string>): boolean {
  return nodeSelector === undefined || prepareSelector(nodeSelector).matches(labels);
}

/** Of several that select a node the highest order holds, then the first by name; as a whole. */
export function selectPolicy(valid: LastValid, labels: ReadonlyMap<string, string>): AgentPolicy | undefined {
  const fitting = [...valid.values()].filter((each) => selects(each, labels));
  const [first] = fitting.toSorted(
    (left, right) => right.order - left.order || (left.policy.name < right.policy.name ? -1 : 1),
  );
  return first?.policy;
}

export interface PolicyQuestion {
  /** `DryRun` caps whatever a policy says; `Enforce` is for nodes without one. */
  readonly configured: 'Policy' | Mode;
  readonly policies: readonly NamedPolicy[];
  readonly lastValid: LastValid;
  /** Of this node; `undefined` while the Node object has not been read. */
  readonly labels: ReadonlyMap<string, string> | undefined;
}

/** A policy that never could be read may be the one for this node, so nothing is enforced meanwhile. */
function isSomethingUnknown({ policies, lastValid, labels }: PolicyQuestion): boolean {
  const isUnread = policies.some(({ name }) => !lastValid.has(name));
  return isUnread || (labels === undefined && policies.length > 0);
}

/** The policy in force on this node. */
export function policyInForce(question: PolicyQuestion): AgentPolicy {
  const { configured, lastValid, labels } = question;
  const selected = selectPolicy(lastValid, labels ?? new Map());
  const policy = selected ?? { ...DEFAULT_POLICY, mode: configured === 'Enforce' ? 'Enforce' : 'DryRun' };
  const isCapped = configured === 'DryRun' || isSomethingUnknown(question);
  return isCapped ? { ...policy, mode: 'DryRun' } : policy;
}
