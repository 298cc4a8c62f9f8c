import { readFileSync } from 'node:fs';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { QosClass } from '#shared/domain/pod/pod-requests.ts';
import { buildBudget, buildNode, buildPod, buildTerm, storedPod, type PodFields } from '#test/build/cluster.ts';

export interface SeedPod {
  readonly name: string;
  readonly node?: string;
  readonly priority: number;
  readonly preemptionPolicy?: string;
  readonly qos?: QosClass;
  /** Abstract units, counted as cpu. */
  readonly request?: number;
  readonly memoryRequest?: string;
  readonly graceSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly budgetAllows?: number;
  readonly requiredPodAffinity?: { readonly labels: Readonly<Record<string, string>>; readonly topologyKey: string };
  readonly requiredPodAntiAffinity?: { readonly towards: string; readonly topologyKey: string };
}

interface SeedNode {
  readonly name: string;
  readonly zone?: string;
  readonly capacity?: number;
  readonly memoryCapacity?: string;
  /** Most pods on it. */
  readonly pods?: number;
}

export interface Given {
  readonly nodes: readonly SeedNode[];
  readonly running: readonly SeedPod[];
  readonly pending?: SeedPod;
  readonly queue?: readonly SeedPod[];
  readonly arrives?: { readonly at: number; readonly pod: SeedPod };
  readonly consideredNode?: string;
}

export interface Seed<Then> {
  readonly given: Given;
  readonly when: unknown;
  readonly then: Then;
  readonly cases: readonly { readonly name: string; readonly then: Then }[];
}

export function readSeed<Then>(id: string): Seed<Then> {
  return JSON.parse(readFileSync(new URL(`../../../vectors/seeds/${id}.json`, import.meta.url), 'utf8')) as Seed<Then>;
}

export function seedNode({ name, zone, capacity, memoryCapacity }: SeedNode): Node {
  return buildNode({
    name,
    labels: zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone },
    allocatable: { cpu: String(capacity ?? 1_000), memory: memoryCapacity ?? '1Ti' },
  });
}

/** Every pod carries its name as a label, so that others can point at it. */
export function seedPod(pod: SeedPod): Pod {
  const { requiredPodAffinity: near, requiredPodAntiAffinity: apart } = pod;
  const built = buildPod({
    name: pod.name,
    ...(pod.node === undefined ? {} : { node: pod.node }),
    priority: pod.priority,
    labels: { ...pod.labels, name: pod.name },
    ...seedAmounts(pod),
    spec: { preemptionPolicy: pod.preemptionPolicy },
    scheduling: {
      podAffinity: near === undefined ? [] : [buildTerm(near.labels, near.topologyKey)],
      podAntiAffinity: apart === undefined ? [] : [buildTerm({ name: apart.towards }, apart.topologyKey)],
    },
  });
  const stored = storedPod(built);
  if (pod.qos !== undefined && stored.status.qosClass !== pod.qos) {
    throw new Error(`cannot build pod ${pod.name}: its spec makes it ${stored.status.qosClass ?? ''}, not ${pod.qos}`);
  }
  return stored;
}

/** Requests, and the limits that a Guaranteed pod has as well: it states memory too. */
function seedAmounts({ qos, request = 0, memoryRequest }: SeedPod): Pick<PodFields, 'requests' | 'limits'> {
  const cpu = String(request);
  if (qos !== 'Guaranteed') return { requests: { cpu, memory: memoryRequest ?? '0' } };
  const requests = { cpu, memory: memoryRequest ?? '1Mi' };
  return { requests, limits: requests };
}

/** A budget for each pod that is covered by one. */
export function seedBudgets(pods: readonly SeedPod[]): readonly DisruptionBudget[] {
  return pods.flatMap(({ name, budgetAllows }) =>
    budgetAllows === undefined ? [] : [buildBudget(name, { name }, budgetAllows)],
  );
}

/** Some fields of an expectation, lists in order: sets of the seeds have none. */
export function sortedFields(object: object, keys: readonly string[]): object {
  const chosen = Object.entries(object).filter(([key]) => keys.includes(key));
  return Object.fromEntries(chosen.map(([key, value]) => [key, sortedIfList(value)]));
}

function sortedIfList(value: unknown): unknown {
  return Array.isArray(value) ? (value as readonly unknown[]).toSorted() : value;
}
