import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import { type Instant, type Pod, ownerOf } from '#shared/domain/pod/pod.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { wantedNodes } from '#shared/domain/placement/filters/node-filters.ts';
import { COMPONENT_NAMES, NAMESPACE_NODE } from '#shared/kube/api-names.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { CONFIG_MAPS, DAEMON_SETS } from '#shared/kube/resource.ts';
import { schedulerProfiles } from '#cli/cluster/scheduler-configuration.ts';
import { nameOf, namespaceOf, type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { Finding } from './finding.ts';
import {
  agentMissing,
  agentSilent,
  agentsReport,
  daemonSetBelowTop,
  noStalls,
  fellBack,
  podsDisagree,
  sourcesDisagree,
  sourcesNotCompared,
  preemptionDisabled,
  agentsDiffer,
  agentsHaveOtherVersion,
} from './messages.ts';

/** Whether the agent of each node reports; nodes on which the DaemonSet puts no agent are left out. */
export function agentFindings(
  { nodes, pressures }: { readonly nodes: readonly Node[]; readonly pressures: readonly NodePressure[] },
  now: Instant,
  mayHaveAgent: (node: Node) => boolean = () => true,
): readonly Finding[] {
  const byName = new Map(pressures.map((each) => [each.name, each.status]));
  const names = nodes.filter((node) => byName.has(node.name) || mayHaveAgent(node)).map(({ name }) => name);
  const missing = names.filter((name) => byName.get(name) === undefined);
  const silent = names.filter((name) => byName.get(name) !== undefined && !isFresh(byName.get(name), now));
  const reporting = names.filter((name) => isFresh(byName.get(name), now));
  return [
    ...(missing.length > 0 ? [agentMissing(missing)] : []),
    ...(silent.length > 0 ? [agentSilent(silent)] : []),
    ...(reporting.length > 0 ? [agentsReport(reporting.length)] : []),
  ];
}

/** Which nodes the DaemonSet of the agents selects; all where it is not among the objects. */
export function selectedByAgents(manifests: readonly Manifest[]): (node: Node) => boolean {
  const agents = ofKind(manifests, DAEMON_SETS).find(
    (each) => nameOf(each) === COMPONENT_NAMES.agent && namespaceOf(each, '') === NAMESPACE_NODE,
  );
  const spec = fieldOf(fieldOf(fieldOf(agents?.raw, 'spec'), 'template'), 'spec');
  const pod = decodePod({
    metadata: { name: COMPONENT_NAMES.agent, namespace: NAMESPACE_NODE, uid: 'template' },
    spec,
  });
  return pod.ok ? wantedNodes(pod.value) : () => true;
}

/** Value of `system-node-critical`, the highest of all classes. */
const TOP_PRIORITY = 2_000_001_000;
const SYSTEM_NAMESPACE = 'kube-system';

/**
 * Nodes whose agents measure no stalls: the kernel does not count them, or has only cgroup v1, which does not count
 * them for pods. The condition `Io` depends only on stalls.
 */
export function stallFindings(pressures: readonly NodePressure[], now: Instant): readonly Finding[] {
  const nodes = pressures.filter(({ status }) => isFresh(status, now) && status.conditions.some(isWithoutStalls));
  return nodes.length === 0 ? [] : [noStalls(nodes.map(({ name }) => name))];
}

function isWithoutStalls({ type, reason }: { readonly type: string; readonly reason: string }): boolean {
  return type === 'Io' && reason === 'NotMeasured';
}

/**
 * DaemonSets of kube-system whose pods have less than the highest priority: a full node may not run them. Mechanism
 * S3-48.
 */
export function daemonSetFindings(pods: readonly Pod[]): readonly Finding[] {
  const below = pods.filter(
    ({ namespace, spec }) => namespace === SYSTEM_NAMESPACE && (spec.priority ?? 0) < TOP_PRIORITY,
  );
  const owners = below.map(ownerOf).filter((owner) => owner?.startsWith(`${SYSTEM_NAMESPACE}/DaemonSet/`));
  return [...new Set(owners)].map((owner) => daemonSetBelowTop(owner ?? ''));
}

type Say = (nodes: readonly string[], example: string) => Finding;

/** By reason of the condition `SourcesAgree`, from worst to best; agent/messages.ts has the reasons. */
const FINDINGS: ReadonlyMap<string, Say> = new Map([
  ['SourcesDisagree', sourcesDisagree],
  ['PodsDisagree', podsDisagree],
  ['KernelUnreadable', fellBack],
  ['PodsUnreadable', fellBack],
  ['SourcesNotComparable', sourcesNotCompared],
]);

/** Nodes whose sources of memory figures contradict each other, cannot be compared, or are replaced by the kubelet's. */
export function sourceFindings(pressures: readonly NodePressure[], now: Instant): readonly Finding[] {
  const doubts = pressures.flatMap((each) => doubtOf(each, now) ?? []);
  return Array.from(FINDINGS, ([reason, say]) => {
    const [first, ...others] = doubts.filter((each) => each.reason === reason);
    return (
      first &&
      say(
        [first, ...others].map(({ node }) => node),
        `${first.node}: ${first.message}`,
      )
    );
  }).filter((finding) => finding !== undefined);
}

interface Doubt {
  readonly node: string;
  readonly reason: string;
  readonly message: string;
}

function doubtOf({ name, status }: NodePressure, now: Instant): Doubt | undefined {
  if (!isFresh(status, now)) return undefined;
  const found = status.conditions.find(({ type }) => type === 'SourcesAgree');
  return found && { node: name, reason: found.reason, message: found.message };
}

const PLUGIN = 'DefaultPreemption';
const EXTENSION_POINTS = ['postFilter', 'multiPoint'];

/**
 * Profiles of kube-scheduler without preemption, if ConfigMaps contain their configuration; a file on the control
 * plane's own disk cannot be read. Mechanism S1-22.
 */
export function schedulerFindings(manifests: readonly Manifest[]): readonly Finding[] {
  return ofKind(manifests, CONFIG_MAPS).flatMap(configurationFindings);
}

function configurationFindings(manifest: Manifest): readonly Finding[] {
  const data = fieldOf(manifest.raw, 'data');
  if (!isRecord(data)) return [];
  const where = `ConfigMap ${namespaceOf(manifest, '')}/${nameOf(manifest)}`;
  return Object.values(data)
    .flatMap(schedulerProfiles)
    .filter(isWithoutPreemption)
    .map((profile) => preemptionDisabled(where, nameOfProfile(profile)));
}

function isWithoutPreemption(profile: unknown): boolean {
  const plugins = fieldOf(profile, 'plugins');
  const isEnabled = EXTENSION_POINTS.some((point) => names(plugins, point, 'enabled').includes(PLUGIN));
  const isDisabled = EXTENSION_POINTS.some((point) =>
    names(plugins, point, 'disabled').some((name) => name === PLUGIN || name === '*'),
  );
  return isDisabled && !isEnabled;
}

function nameOfProfile(profile: unknown): string {
  const name = fieldOf(profile, 'schedulerName');
  return typeof name === 'string' ? name : 'default-scheduler';
}

function names(plugins: unknown, point: string, list: 'enabled' | 'disabled'): readonly unknown[] {
  return itemsOf(fieldOf(fieldOf(plugins, point), list)).map((item) => fieldOf(item, 'name'));
}

/**
 * Whether all reporting agents have the same version as this command, which answers as an agent of its own version
 * would.
 */
export function versionFindings(pressures: readonly NodePressure[], own: string, now: Instant): readonly Finding[] {
  const versions = pressures.flatMap(({ status }) => (isFresh(status, now) ? [status.agent?.version ?? ''] : []));
  const counts = Map.groupBy(
    versions.filter((version) => version !== ''),
    (version) => version,
  );
  const named = Array.from(counts, ([version, agents]) => ({ version, count: agents.length })).toSorted(byCount);
  const [first] = named;
  if (first === undefined) return [];
  if (named.length > 1) return [agentsDiffer(named)];
  return first.version === own ? [] : [agentsHaveOtherVersion(first.version, own)];
}

interface VersionCount {
  readonly version: string;
  readonly count: number;
}

/** The most frequent first. */
function byCount(a: VersionCount, b: VersionCount): number {
  return b.count - a.count || compareTexts(a.version, b.version);
}
