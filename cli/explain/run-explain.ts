import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { CLUSTER_RESOURCES, clusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { decodeCountedQuota } from '#cli/cluster/counted-quota.ts';
import { findPod } from '#cli/cluster/find-pod.ts';
import { readManifests } from '#cli/cluster/read-manifests.ts';
import { InputError } from '#cli/input-error.ts';
import { nameOf } from '#cli/manifests/manifest.ts';
import { formatDocument, type OutputFormat } from '#cli/output.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { formatTable, printLine } from '#cli/table.ts';
import { noQuota } from './messages.ts';
import { podFacts, type PodFacts } from './pod-facts.ts';
import { quotaFacts, type QuotaFacts } from './quota-facts.ts';

export interface ExplainOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** Carries out `plimsoll explain pod`. */
export async function runExplainPod(wanted: string, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const read = await readManifests(options, CLUSTER_RESOURCES, io);
  const model = clusterModel(read);
  const facts = podFacts(model, findPod(model, wanted, options.namespace ?? read.namespace), read.now);
  io.print(options.output === 'table' ? printPod(facts) : await formatDocument(facts, options.output));
}

/** Carries out `plimsoll explain quota`. */
export async function runExplainQuota(wanted: string, options: ExplainOptions, io: ProcessIo): Promise<void> {
  const { manifests } = await readManifests(options, [PRIORITY_QUOTAS], io);
  const quotas = manifests.filter(({ kind }) => kind === PRIORITY_QUOTAS.kind);
  const found = quotas.find((manifest) => nameOf(manifest) === wanted);
  if (found === undefined) throw new InputError(noQuota(wanted, quotas.map(nameOf)));
  const facts = quotaFacts(decodeManifest(found, decodeCountedQuota));
  io.print(options.output === 'table' ? printQuota(facts) : await formatDocument(facts, options.output));
}

const POD_LABELS: readonly (readonly [keyof PodFacts, string])[] = [
  ['pod', 'Pod'],
  ['priority', 'Priority'],
  ['priorityClassName', 'Priority class'],
  ['preemptionPolicy', 'Preemption policy'],
  ['qosClass', 'QoS class'],
  ['node', 'Node'],
  ['owner', 'Owner'],
  ['nodePressurePolicy', 'Node pressure policy'],
  ['evictionOrder', 'Place in eviction order'],
  ['protectedFromEviction', 'Protected from eviction'],
  ['protectedFromPreemption', 'Protected from preemption'],
  ['disruptionBudgets', 'Disruption budgets'],
  ['avoidedNodes', 'Avoided nodes'],
];

/** One line a field, as `kubectl describe` prints it. */
function printPod(facts: PodFacts): string {
  const width = Math.max(...POD_LABELS.map(([, label]) => label.length)) + 2;
  return POD_LABELS.map(([field, label]) => printLine(`${label}:`.padEnd(width) + fieldText(facts[field]))).join('');
}

function fieldText(value: string | number | readonly string[]): string {
  const text = typeof value === 'object' ? value.join('; ') : String(value);
  return text === '' ? '<none>' : text;
}

function printQuota({ quota, scope, resources }: QuotaFacts): string {
  const rows = resources.map(({ resource, hard, used, free, namespaces }) => {
    const largest = namespaces.map((each) => `${each.namespace} (${each.used})`).join(', ');
    return [resource, hard, used, free, largest === '' ? '<none>' : largest];
  });
  return `${printLine(`${quota}: ${scope}`)}\n${formatTable(['RESOURCE', 'HARD', 'USED', 'FREE', 'LARGEST NAMESPACES'], rows)}`;
}
