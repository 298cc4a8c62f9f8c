import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { byName } from '#shared/domain/base/texts.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { DEFAULT_LIMITS } from '#shared/domain/eviction/eviction-limits.ts';
import { DEFAULT_OPT_OUT, DEFAULT_OPT_OUT_CEILING, type Protection } from '#shared/domain/eviction/protection.ts';
import { decodePolicy, decodeScope, type NodePolicy, type PolicyScope } from './decode-policy.ts';
import { DEFAULT_NODE_SETTINGS, type NodeSettings } from '#shared/domain/nodes/node-settings.ts';
import { type AgentPolicy, type Mode, DEFAULT_POLICY } from './policy.ts';

/** A NodePressurePolicy by name, with the parts of it that could be read. */
export interface NamedPolicy {
  readonly name: string;
  readonly decoded: Decoded<NodePolicy>;
  /** Which nodes it selects; this may be readable when the rest is not. */
  readonly scope: Decoded<PolicyScope>;
}

/** The policy that applies to a node; `unreadable` if a policy that cannot be read may be the one that applies. */
export type Selection =
  | { readonly kind: 'none' }
  | { readonly kind: 'selected'; readonly policy: NodePolicy }
  | { readonly kind: 'unreadable'; readonly name: string; readonly field: string; readonly message: string };

type Labels = ReadonlyMap<string, string>;

/** Reads a NodePressurePolicy as far as it can be read. */
export function readNamedPolicy(raw: KubeObject): NamedPolicy {
  return { name: raw.metadata.name ?? '', decoded: decodePolicy(raw), scope: decodeScope(raw) };
}

/**
 * Of several policies that select a node, the one with the highest order applies as a whole, then the first by name. A
 * policy whose scope cannot be read may be for every node and come before every other (docs/contributing/decisions/thresholds.md).
 */
export function selectPolicy(policies: readonly NamedPolicy[], labels: Labels): Selection {
  return policySelector(policies)(labels);
}

/** The same for many nodes. */
export function policySelector(policies: readonly NamedPolicy[]): (labels: Labels) => Selection {
  const inOrder = policies.toSorted(byPlace).map((policy) => ({ policy, isFor: matcherOf(policy) }));
  return (labels) => selectionOf(inOrder.find(({ isFor }) => isFor(labels))?.policy);
}

function matcherOf({ scope }: NamedPolicy): (labels: Labels) => boolean {
  const selector = scope.ok ? scope.value.nodeSelector : undefined;
  if (selector === undefined) return () => true;
  const prepared = prepareSelector(selector);
  return (labels) => prepared.matches(labels);
}

function selectionOf(first: NamedPolicy | undefined): Selection {
  if (first === undefined) return { kind: 'none' };
  const { name, scope, decoded } = first;
  if (!scope.ok) return { kind: 'unreadable', name, field: scope.field, message: scope.message };
  if (!decoded.ok) return { kind: 'unreadable', name, field: decoded.field, message: decoded.message };
  return { kind: 'selected', policy: decoded.value };
}

function byPlace(left: NamedPolicy, right: NamedPolicy): number {
  const [leftOrder, rightOrder] = [orderOf(left), orderOf(right)];
  if (leftOrder !== rightOrder) return leftOrder > rightOrder ? -1 : 1;
  return byName(left, right);
}

function orderOf({ scope }: NamedPolicy): number {
  return scope.ok ? scope.value.order : Infinity;
}

/** The rules for our own evictions on a node without a policy; their mode is then the agent's own setting. */
export const PROTECTION_WITHOUT_POLICY: Protection = {
  policy: undefined,
  limits: DEFAULT_LIMITS,
  namespaces: [],
  optOutCeiling: DEFAULT_OPT_OUT_CEILING,
  optOut: DEFAULT_OPT_OUT,
};

/** The rules of a policy for our own evictions on its nodes. */
export function protectionByPolicy({ name, mode, limits, protect }: AgentPolicy): Protection {
  const { namespaces, optOutCeiling, optOut } = protect;
  return { policy: { name, mode }, limits, namespaces, optOutCeiling, optOut };
}

/** What applies to the avoid list, the taints and the conditions of a node; nothing is written where a policy cannot be read. */
export function nodeSettingsIn(selection: Selection): NodeSettings {
  return selection.kind === 'selected' ? selection.policy.nodes : DEFAULT_NODE_SETTINGS;
}

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
