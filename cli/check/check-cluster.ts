import { classOutliers } from '#shared/domain/priority/class-outliers.ts';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  NAMESPACES,
  NODE_PRESSURES,
  NODES,
  PDBS,
  PODS,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  type Resource,
  RESOURCE_QUOTAS,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { type ClusterModel, clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { LEFT_TO_WEBHOOK } from '#shared/kube/admission/left-to-webhook.ts';
import { DEFAULT_POLICY, WEBHOOK_CONFIGURATION, WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { nameOf, type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import {
  agentFindings,
  daemonSetFindings,
  stallFindings,
  schedulerFindings,
  selectedByAgents,
  sourceFindings,
  versionFindings,
} from './component-findings.ts';
import { conditionFindings, nodeConditionFindings, WITH_CONDITIONS } from './condition-findings.ts';
import type { Finding } from './finding.ts';
import { quotaFindings, budgetFindings, queueFindings } from './policy-findings.ts';
import { definitionFindings, registrationFindings, webhookConflicts } from './installation-findings.ts';
import {
  classFarAbove,
  modeBoth,
  modeInProcess,
  modeWebhook,
  nobodyGivesDefaults,
  stillAskedAboutAll,
  stillLeftOut,
} from './messages.ts';

/** Which mode of admission is in force, and why (docs/contributing/decisions/defaults-in-api-server.md). */
export function admissionModeFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const configurations = [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].map((resource) =>
    find(manifests, resource, WEBHOOK_CONFIGURATION),
  );
  // A configuration that is missing is a finding of its own.
  if (configurations.includes(undefined)) return [];
  const entries = configurations.flatMap((each) => entryForPods(each) ?? []);
  const isGiving = [MUTATING_POLICIES, MUTATING_POLICY_BINDINGS].every(
    (resource) => find(manifests, resource, DEFAULT_POLICY) !== undefined,
  );
  return [modeOf(entries, isGiving)];
}

function modeOf(entries: readonly unknown[], isGiving: boolean): Finding {
  if (entries.length === 0) return isGiving ? modeInProcess() : nobodyGivesDefaults();
  const narrow = entries.filter(leavesPodsOut);
  if (!isGiving) return narrow.length === 0 ? modeWebhook() : stillLeftOut();
  return narrow.length === entries.length ? modeBoth() : stillAskedAboutAll();
}

function find(manifests: readonly Manifest[], { kind }: Resource, name: string): Manifest | undefined {
  return manifests.find((each) => each.kind === kind && nameOf(each) === name);
}

function entryForPods(configuration: Manifest | undefined): unknown {
  const entries = itemsOf(fieldOf(configuration?.raw, 'webhooks'));
  return entries.find((entry) => fieldOf(entry, 'name') === WEBHOOK_ENTRIES.priority);
}

function leavesPodsOut(entry: unknown): boolean {
  return itemsOf(fieldOf(entry, 'matchConditions')).some((each) => fieldOf(each, 'name') === LEFT_TO_WEBHOOK);
}

interface CheckInput {
  readonly read: ClusterManifests;
  readonly model: ClusterModel;
  /** Of this command. */
  readonly version: string;
}

/** A check, and the kinds that it needs. */
interface Check {
  readonly needs: readonly Resource[];
  readonly find: (input: CheckInput) => readonly Finding[];
}

const WEBHOOKS = [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS];
const GIVING = [MUTATING_POLICIES, MUTATING_POLICY_BINDINGS];

/** In the order of an installation. */
const INSTALLATION: readonly Check[] = [
  { needs: [CUSTOM_RESOURCE_DEFINITIONS], find: ({ read }) => definitionFindings(read.manifests) },
  { needs: WEBHOOKS, find: ({ read }) => registrationFindings(read.manifests, read.now) },
  { needs: [...WEBHOOKS, ...GIVING], find: ({ read }) => admissionModeFindings(read.manifests) },
  {
    needs: [NODES, NODE_PRESSURES],
    find: ({ model, read }) => agentFindings(model, read.now, selectedByAgents(read.manifests)),
  },
  { needs: [NODE_PRESSURES], find: ({ model, version, read }) => versionFindings(model.pressures, version, read.now) },
  { needs: [NODE_PRESSURES], find: ({ model, read }) => stallFindings(model.pressures, read.now) },
  { needs: [NODE_PRESSURES], find: ({ model, read }) => sourceFindings(model.pressures, read.now) },
  {
    needs: [NODE_PRESSURES],
    find: ({ model, read }) => nodeConditionFindings(read.manifests, model.pressures, read.now),
  },
  ...WITH_CONDITIONS.map((resource) => ({
    needs: [resource],
    find: ({ read }: CheckInput) => conditionFindings(ofKind(read.manifests, resource)),
  })),
];
/** Checks that apply whether or not Plimsoll is installed. */
const SURROUNDINGS: readonly Check[] = [
  { needs: WEBHOOKS, find: ({ read }) => webhookConflicts(read.manifests) },
  { needs: [CONFIG_MAPS], find: ({ read }) => schedulerFindings(read.manifests) },
  { needs: [PDBS], find: ({ read }) => budgetFindings(read.manifests) },
  { needs: [NAMESPACES, PRIORITY_POLICIES, PODS], find: ({ model, read }) => queueFindings(read.manifests, model) },
  { needs: [PODS], find: ({ model }) => daemonSetFindings(model.pods) },
  { needs: [PODS, PRIORITY_CLASSES], find: ({ model }) => classFindings(model) },
  {
    needs: [NODES, PRIORITY_CLASSES, RESOURCE_QUOTAS],
    find: ({ model, read }) => quotaFindings(read.manifests, model),
  },
];

const NONE: ReadonlySet<string> = new Set();

/** All findings in a cluster; kinds that are `unread` are not treated as empty. */
export function checkCluster(read: ClusterManifests, version: string, unread = NONE): readonly Finding[] {
  return carryOut([...INSTALLATION, ...SURROUNDINGS], { read, model: clusterModel(read), version }, unread);
}

/** The findings in a cluster before Plimsoll is installed. */
export function checkAnyCluster(read: ClusterManifests, unread = NONE): readonly Finding[] {
  return carryOut(SURROUNDINGS, { read, model: clusterModel(read), version: '' }, unread);
}

function carryOut(checks: readonly Check[], input: CheckInput, unread: ReadonlySet<string>): readonly Finding[] {
  const possible = checks.filter(({ needs }) => needs.every(({ kind }) => !unread.has(kind)));
  return possible.flatMap(({ find }) => find(input));
}

function classFindings({ classes, pods }: ClusterModel): readonly Finding[] {
  const values = Array.from(classes.values(), ({ value }) => value);
  return classOutliers(pods, values).map((each) => classFarAbove(each.workload, each.className, each.usualClassName));
}
