import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { type NamedPolicy, readNamedPolicy, selectPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import type { NodePressurePolicySpec } from '#shared/api/node-pressure-policy/spec.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES } from '#shared/kube/resource.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { formatTable } from '#cli/output/table.ts';
import { type NodeRow, nodeRows } from '#cli/top/node-lists.ts';
import { type Obstacle, policyUnreadable, policyWider } from './messages.ts';

/** The selected nodes and the policies that decide their mode. */
export interface ModeQuestion {
  readonly mode: Mode;
  readonly nodes: readonly { readonly name: string; readonly labels: ReadonlyMap<string, string> }[];
  /** Names of the nodes to change. */
  readonly selected: ReadonlySet<string>;
  readonly policies: readonly KubeObject[];
}

/** A policy to change. */
export interface PolicyChange {
  readonly policy: string;
  /** resourceVersion of the policy as read, so that a later change is not overwritten. */
  readonly resourceVersion: string | undefined;
  readonly from: Mode;
  readonly to: Mode;
  readonly nodes: readonly string[];
  /** Fields of `spec` to merge; none if the policy already has the mode. */
  readonly spec: object | undefined;
  /** Thresholds with their own mode that stay in DryRun. */
  readonly stillDryRun: readonly string[];
}

/** The planned changes; none if there is an obstacle. */
export interface ModePlan {
  readonly changes: readonly PolicyChange[];
  /** Selected nodes without a policy: the agent's setting `--mode` applies there. */
  readonly withoutPolicy: readonly string[];
  readonly obstacles: readonly Obstacle[];
}

/** Sets the mode of the policies in force on the selected nodes, if they are in force on no other node. */
export function planMode({ mode, nodes, selected, policies }: ModeQuestion): ModePlan {
  const named = policies.map(storedPolicy);
  const byPolicy = Map.groupBy(nodes, ({ labels }) => policyFor(named, labels));
  const chosen = Array.from(byPolicy, ([name, all]) => placed(name, all, selected)).filter(
    ({ inside }) => inside.length > 0,
  );
  return {
    changes: chosen.flatMap((each) => changesOf(each, named, mode)),
    withoutPolicy: chosen.filter(({ name }) => name === undefined).flatMap(({ inside }) => inside),
    obstacles: chosen.flatMap((each) => obstaclesOf(each, named)),
  };
}

type VersionedPolicy = NamedPolicy & Pick<PolicyChange, 'resourceVersion'>;

function storedPolicy(raw: KubeObject): VersionedPolicy {
  return { ...readNamedPolicy(raw), resourceVersion: raw.metadata.resourceVersion };
}

interface PlacedPolicy {
  readonly name: string | undefined;
  readonly inside: readonly string[];
  readonly outside: readonly string[];
}

/** Name of the policy in force, even if it cannot be read. */
function policyFor(policies: readonly NamedPolicy[], labels: ReadonlyMap<string, string>): string | undefined {
  const found = selectPolicy(policies, labels);
  if (found.kind === 'none') return undefined;
  return found.kind === 'selected' ? found.policy.policy.name : found.name;
}

function placed(name: string | undefined, nodes: ModeQuestion['nodes'], selected: ReadonlySet<string>): PlacedPolicy {
  const names = nodes.map((node) => node.name);
  return {
    name,
    inside: names.filter((each) => selected.has(each)),
    outside: names.filter((each) => !selected.has(each)),
  };
}

function obstaclesOf({ name, outside }: PlacedPolicy, policies: readonly NamedPolicy[]): readonly Obstacle[] {
  const found = policies.find((each) => each.name === name);
  if (found === undefined) return [];
  if (!found.decoded.ok) return [policyUnreadable(found.name, found.decoded.field, found.decoded.message)];
  return outside.length === 0 ? [] : [policyWider(found.name, outside)];
}

/** None for a policy that cannot be read. */
function changesOf({ name, inside }: PlacedPolicy, policies: readonly VersionedPolicy[], to: Mode): PolicyChange[] {
  const found = policies.find((each) => each.name === name);
  if (found?.decoded.ok !== true) return [];
  const { spec } = found.decoded.value;
  const { mode: from = 'DryRun', cpu } = spec;
  const changed = from === to ? undefined : specFor(to, cpu?.mode);
  const stillDryRun = to === 'Enforce' ? dryRunSignals(spec) : [];
  return [
    { policy: found.name, resourceVersion: found.resourceVersion, from, to, nodes: inside, spec: changed, stillDryRun },
  ];
}

/** A policy in DryRun may not enforce for CPU: the CustomResourceDefinition refuses it. */
function specFor(mode: Mode, cpuMode: Mode | undefined): object {
  return mode === 'DryRun' && cpuMode === 'Enforce' ? { mode, cpu: { mode } } : { mode };
}

function dryRunSignals(spec: NodePressurePolicySpec): readonly string[] {
  return (['evictionHardMode', 'evictionSoftMode'] as const).flatMap((field) => {
    const signals = Object.entries(spec[field] ?? {}).filter(([, mode]) => mode === 'DryRun');
    return signals.map(([signal]) => `${field}.${signal}`);
  });
}

/** Of every change by `plimsoll mode`. */
export const FIELD_MANAGER = 'plimsoll-mode';

/**
 * Applies a change to the policy as read; with `dryRun` the API server only checks it. Resolves to the API server's
 * reason for a refusal, such as a conflict if the policy was changed meanwhile.
 */
export async function patchPolicy(
  { policy: name, resourceVersion, spec }: Pick<PolicyChange, 'policy' | 'resourceVersion' | 'spec'>,
  client: KubeClient,
  dryRun: boolean,
): Promise<string | undefined> {
  const address = { resource: NODE_PRESSURE_POLICIES, name };
  const options = { type: 'merge', fieldManager: FIELD_MANAGER, dryRun } as const;
  const outcome = await patchObject(client, address, { metadata: { resourceVersion }, spec }, options);
  return outcome.kind === 'ok' ? undefined : outcome.message;
}

/** One node whose mode would change. */
interface ModeRow {
  readonly node: string;
  readonly policy: string;
  readonly from: Mode;
  readonly to: Mode;
  readonly state: NodeRow['state'];
  /** The pod that would be evicted first. */
  readonly next: string | undefined;
}

/** The nodes of each policy with the reports of their agents: if a threshold is met, enforcing evicts at once. */
export function modeRows(
  changes: readonly PolicyChange[],
  pressures: readonly NodePressure[],
  now: Instant,
): readonly ModeRow[] {
  const reports = new Map(nodeRows(pressures, now).map((row) => [row.metadata.name, row]));
  return changes.flatMap(({ policy, from, to, nodes }) =>
    nodes.map((node) => {
      const { state = 'Unknown', next } = reports.get(node) ?? {};
      return { node, policy, from, to, state, next } as const;
    }),
  );
}

/** As a table. */
export function printRows(rows: readonly ModeRow[]): string {
  const cells = rows.map(({ node, policy, from, to, state, next }) => [
    node,
    policy,
    from,
    to,
    state,
    next ?? '<none>',
  ]);
  return formatTable(['NODE', 'POLICY', 'FROM', 'TO', 'STATE', 'NEXT'], cells);
}
