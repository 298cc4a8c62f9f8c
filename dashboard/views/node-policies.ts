import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import { type AgentPolicy, DEFAULT_POLICY, stallKey, thresholdMode } from '#shared/api/node-pressure-policy/policy.ts';
import { type NamedPolicy, readNamedPolicy, selectPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import { fieldsOf, listOf } from '#shared/api/fields.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { isHard, type Threshold, type ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { readableAmount, formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { selectorText } from '#shared/kube/list/read-some.ts';
import { conditionOf, type ConditionView } from './condition.ts';

/** One NodePressurePolicy. */
export interface NodePolicyView {
  /** Empty for the defaults of nodes without a policy. */
  readonly name: string;
  readonly order: number;
  /** A label selector; empty selects every node. */
  readonly nodeSelector: string;
  /** Empty if the policy cannot be decoded. */
  readonly mode: string;
  /** The error with its field if the policy cannot be decoded; otherwise empty. */
  readonly problem: string;
  readonly thresholds: readonly PolicyThresholdView[];
  /** The settings that differ from the defaults, besides thresholds and mode. */
  readonly differs: readonly { readonly field: string; readonly value: string; readonly usual: string }[];
  readonly conditions: readonly ConditionView[];
  /** The number of nodes that it applies to by their labels, and the first of them by name. */
  readonly governs: number;
  readonly nodes: readonly string[];
  /** Nodes whose agent reports another policy or mode. */
  readonly deviating: readonly { readonly node: string; readonly policy: string; readonly mode: string }[];
}

export interface PolicyThresholdView {
  readonly signal: string;
  readonly kind: 'hard' | 'soft';
  /** The minimum to keep available: an amount or a percentage. */
  readonly least: string;
  readonly gracePeriodSeconds: number;
  readonly mode: string;
  /** `New`, `Held` or `Confirmed` according to the status; empty if it does not say. */
  readonly state: string;
  /** Nodes that prevent its enforcement. */
  readonly heldBy: readonly string[];
}

/** A decoded NodePressurePolicy with its conditions. */
export interface PolicyEntry {
  readonly named: NamedPolicy;
  readonly conditions: readonly ConditionView[];
}

/** The parts of a node that policies select by. */
export interface LabelledNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

const MAX_CONDITIONS = 16;
/** Nodes shown per policy; the page links to the full list. */
const MAX_NODES = 20;

/** Decodes one NodePressurePolicy; never throws. */
export function policyEntry(object: KubeObject): PolicyEntry {
  const conditions = listOf(fieldsOf(object['status'])['conditions'], MAX_CONDITIONS, (each) => conditionOf(each, []));
  return { named: readNamedPolicy(object), conditions };
}

/** The name of the policy that applies to a node; empty if none does. */
export function governingPolicy(policies: readonly NamedPolicy[], { labels }: LabelledNode): string {
  const selection = selectPolicy(policies, new Map(Object.entries(labels)));
  if (selection.kind === 'none') return '';
  return selection.kind === 'selected' ? selection.policy.policy.name : selection.name;
}

/** Data of policies, nodes and reports. */
export interface PolicyFacts {
  readonly policies: readonly PolicyEntry[];
  /** By node: the policy that applies, as `governingPolicy` returns it. */
  readonly governing: ReadonlyMap<string, string>;
  readonly pressures: Iterable<NodePressure>;
  readonly now: number;
}

/** The policies in order of precedence, and the defaults if any nodes use them. */
export function nodePolicyViews({ policies, governing, pressures, now }: PolicyFacts): readonly NodePolicyView[] {
  const nodesOf = Map.groupBy(governing.keys(), (node) => governing.get(node) ?? '');
  const deviating = deviations(governing, modesOf(policies), { pressures, now });
  const views = policies.map((entry) => {
    const { name } = entry.named;
    return { ...settingsOf(entry), ...nodesView(nodesOf.get(name) ?? []), deviating: deviating.get(name) ?? [] };
  });
  const left = nodesOf.get('') ?? [];
  const rest = { ...defaultSettings(), ...nodesView(left), deviating: deviating.get('') ?? [] };
  const ordered = views.sort((a, b) => b.order - a.order || compareTexts(a.name, b.name));
  return left.length > 0 ? [...ordered, rest] : ordered;
}

type Settings = Omit<NodePolicyView, 'governs' | 'nodes' | 'deviating'>;

function nodesView(nodes: readonly string[]): Pick<NodePolicyView, 'governs' | 'nodes'> {
  return { governs: nodes.length, nodes: nodes.toSorted(compareTexts).slice(0, MAX_NODES) };
}

function settingsOf({ named: { name, decoded, scope }, conditions }: PolicyEntry): Settings {
  const where = {
    name,
    order: scope.ok ? scope.value.order : 0,
    nodeSelector: scope.ok && scope.value.nodeSelector !== undefined ? selectorText(scope.value.nodeSelector) : '',
    conditions,
  };
  if (!decoded.ok)
    return { ...where, mode: '', problem: `${decoded.field}: ${decoded.message}`, thresholds: [], differs: [] };
  return { ...where, ...decisionsOf(decoded.value.policy) };
}

function decisionsOf(policy: AgentPolicy): Pick<Settings, 'mode' | 'problem' | 'thresholds' | 'differs'> {
  const thresholds = policy.thresholds.map((each) => thresholdView(each, policy));
  return { mode: policy.mode, problem: '', thresholds, differs: differencesOf(policy) };
}

/** The defaults of nodes without a policy. */
function defaultSettings(): Settings {
  return { name: '', order: 0, nodeSelector: '', conditions: [], ...decisionsOf(DEFAULT_POLICY) };
}

function thresholdView(threshold: Threshold, policy: AgentPolicy): PolicyThresholdView {
  const record = policy.thresholdRecords.find(({ rule }) => rule === threshold.id);
  return {
    signal: threshold.signal,
    kind: isHard(threshold) ? 'hard' : 'soft',
    least: valueText(threshold.value),
    gracePeriodSeconds: threshold.gracePeriodSeconds,
    mode: thresholdMode(threshold, policy),
    state: record?.state ?? '',
    heldBy: record?.nodes ?? [],
  };
}

function valueText(value: ThresholdValue): string {
  // A share is a 32-bit float.
  return value.kind === 'share'
    ? `${Number((value.share * 100).toFixed(3))}%`
    : readableAmount(formatQuantity(value.amount));
}

/** The settings of a policy besides its thresholds, by field. */
const SETTINGS: Readonly<Record<string, (policy: AgentPolicy) => string>> = {
  memoryFigure: ({ memoryFigure }) => memoryFigure,
  evictionPressureTransitionPeriod: ({ transitionPeriodMs }) => `${transitionPeriodMs / 1000}s`,
  evictionMaxPodGracePeriod: ({ mostGraceSeconds }) => String(mostGraceSeconds),
  ranking: ({ ranking: { ranking } }) => (typeof ranking === 'string' ? ranking : ranking.keys.join(', ')),
  'ranking.daemonSets': ({ ranking }) => ranking.daemonSets,
  missingStats: ({ ranking }) => ranking.missingStats,
  'limits.concurrent': ({ limits }) => String(limits.concurrent),
  'limits.perMinute': ({ limits }) => String(limits.perMinute),
  'limits.perTenMinutes': ({ limits }) => String(limits.perTenMinutes),
  'limits.perNamespacePerTenMinutes': ({ limits }) => String(limits.perNamespacePerTenMinutes),
  'limits.perOwnerPerHour': ({ perOwnerPerHour }) => String(perOwnerPerHour),
  minimumRelief: ({ minimumRelief }) => (minimumRelief === undefined ? '' : valueText(minimumRelief)),
  'protect.namespaces': ({ protect }) => protect.namespaces.join(', '),
  'protect.optOutCeiling': ({ protect }) => String(protect.optOutCeiling),
  'protect.optOut': ({ protect }) => protect.optOut,
  'protect.withinRequest': ({ protect }) => String(protect.withinRequest),
  pressure: ({ stallRules }) => stallRules.map((rule) => `${stallKey(rule)} (${rule.mode})`).join('; '),
};

function differencesOf(policy: AgentPolicy): NodePolicyView['differs'] {
  return Object.entries(SETTINGS).flatMap(([field, read]) => {
    const [value, usual] = [read(policy), read(DEFAULT_POLICY)];
    return value === usual ? [] : [{ field, value, usual }];
  });
}

function modesOf(policies: readonly PolicyEntry[]): ReadonlyMap<string, string> {
  return new Map(
    policies.map(({ named: { name, decoded } }) => [name, decoded.ok ? decoded.value.policy.mode : 'DryRun']),
  );
}

/** By policy: nodes whose agent reports another policy or mode than the objects imply. */
function deviations(
  governing: ReadonlyMap<string, string>,
  modes: ReadonlyMap<string, string>,
  { pressures, now }: Pick<PolicyFacts, 'pressures' | 'now'>,
): ReadonlyMap<string, NodePolicyView['deviating']> {
  const found = new Map<string, { readonly node: string; readonly policy: string; readonly mode: string }[]>();
  for (const { name: node, status } of pressures) {
    const expected = governing.get(node);
    if (expected === undefined || !isFresh(status, now)) continue;
    const { policy = DEFAULT_POLICY.name, mode } = status;
    const isExpected =
      expected === '' ? policy === DEFAULT_POLICY.name : policy === expected && mode === modes.get(expected);
    const list = found.get(expected) ?? [];
    if (!isExpected && list.length < MAX_NODES) found.set(expected, [...list, { node, policy, mode }]);
  }
  return found;
}
