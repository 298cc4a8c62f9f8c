import {
  isKubeletSignal,
  OWN_SIGNALS,
  resourceOf,
  type Signal,
  type StarvedResource,
} from '#shared/domain/pressure/signal.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { addQuantities, type Quantity, quantityNumber, quantitySign, ZERO } from '#shared/domain/quantity/quantity.ts';
import {
  decodeObject,
  readAmounts,
  readList,
  readObject,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { decodeManifest } from '#cli/cluster/cluster-model.ts';
import { InputError } from '#cli/process-io.ts';
import { parseManifests, type Manifest } from '#cli/manifests/parse-manifests.ts';
import type { TextFile } from '#cli/manifests/read-files.ts';
import { isFresh, type NextEntry, type NodePressureStatus } from '#shared/api/node-pressure.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { PodUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { doubledPod, expectedMetrics, expectedUsage, memoryOnly } from './messages.ts';

/** Usage by `namespace/name` of the pod: bytes of memory, or processes. */
export type NamedUsage = ReadonlyMap<string, number>;

/** A document names its kind; a line of usage has no colon. */
const DOCUMENT = /^\s*\{|^(apiVersion|kind):/m;

/**
 * Reads `namespace/pod amount` lines (`#` begins a comment), or a PodMetricsList of metrics.k8s.io, which has memory
 * alone. Throws an InputError that names the line or the field.
 */
export function parseUsage(file: TextFile, resource: StarvedResource): NamedUsage {
  const isDocument = DOCUMENT.test(file.text);
  if (isDocument && resource !== 'memory') throw new InputError(memoryOnly(file.name, resource));
  const entries = isDocument ? parseManifests(file).map(podMetrics) : linesOf(file);
  const usage = new Map<string, number>();
  for (const { pod, amount, where } of entries) {
    if (usage.has(pod)) throw new InputError(doubledPod(where, pod));
    if (amount !== undefined) usage.set(pod, amount);
  }
  return usage;
}

interface UsageEntry {
  readonly pod: string;
  readonly amount: number | undefined;
  readonly where: string;
}

function linesOf({ name, text }: TextFile): readonly UsageEntry[] {
  return text.split('\n').flatMap((line, index) => {
    const content = line.replace(/#.*/, '').trim();
    return content === '' ? [] : [lineOf(content, `${name}: line ${index + 1}`)];
  });
}

function lineOf(content: string, where: string): UsageEntry {
  const [pod = '', amount = '', ...more] = content.split(/\s+/);
  const parsed = parseQuantity(amount);
  const isPod = /^[^/]+\/[^/]+$/.test(pod);
  if (!isPod || more.length > 0 || !parsed.ok || quantitySign(parsed.quantity) < 0)
    throw new InputError(expectedUsage(where, content));
  return { pod, amount: quantityNumber(parsed.quantity), where };
}

function podMetrics(manifest: Manifest): UsageEntry {
  const { where, kind } = manifest;
  if (kind !== 'PodMetrics') throw new InputError(expectedMetrics(where, kind));
  return { where, ...decodeManifest(manifest, decodePodMetrics) };
}

function decodePodMetrics(raw: unknown) {
  return decodeObject(raw, (object) => {
    const containers = readList(object, 'containers', memoryOf);
    const known = containers.filter((each) => each !== undefined);
    const sum = known.reduce(addQuantities, ZERO);
    // A pod with a container that was not measured has no figure: its sum would be too small.
    const isKnown = containers.length > 0 && known.length === containers.length;
    return { pod: podOf(object), amount: isKnown ? quantityNumber(sum) : undefined };
  });
}

function podOf(object: WireObject): string {
  const name = readObject(object, 'metadata', (metadata) => {
    const [namespace, pod] = [readText(metadata, 'namespace'), readText(metadata, 'name')];
    return namespace === undefined || pod === undefined ? undefined : `${namespace}/${pod}`;
  });
  return name ?? refuseField('metadata', 'expected a namespace and a name');
}

function memoryOf(container: WireObject): Quantity | undefined {
  const memory = readAmounts(container, 'usage')?.get('memory');
  if (memory !== undefined && quantitySign(memory) < 0) return refuseField('usage.memory', 'expected at least 0');
  return memory;
}

/** Where figures come from: the report of the node's agent, and a file, which counts before it. */
interface UsageSources {
  readonly status: NodePressureStatus | undefined;
  readonly named: NamedUsage;
  readonly now: Instant;
}

/** What each pod uses of a resource, as far as a source says; a report that is too old to describe the node says nothing. */
export function usageOnNode(pods: readonly Pod[], resource: StarvedResource, sources: UsageSources): UsageByUid {
  const { status, named, now } = sources;
  const reported = isFresh(status, now) ? reportedUsage(status.next, resource) : new Map<string, number>();
  const figures = pods.map(({ namespace, name, uid }) => {
    return { uid, amount: named.get(`${namespace}/${name}`) ?? reported.get(uid) };
  });
  return new Map(
    figures.flatMap(({ uid, amount }) => (amount === undefined ? [] : [[uid, podUsage(uid, resource, amount)]])),
  );
}

/** By UID; entries for another resource, such as CPU, are passed over. */
function reportedUsage(next: readonly NextEntry[], resource: StarvedResource): ReadonlyMap<string, number> {
  return new Map(
    next.flatMap(({ uid, usage, because: { facts } }) => {
      const parsed = parseQuantity(usage ?? '');
      return parsed.ok && isOf(resource, facts['signal']) ? [[uid, quantityNumber(parsed.quantity)]] : [];
    }),
  );
}

function isOf(resource: StarvedResource, signal: unknown): boolean {
  return typeof signal === 'string' && isSignal(signal) && resourceOf(signal) === resource;
}

function isSignal(text: string): text is Signal {
  return isKubeletSignal(text) || OWN_SIGNALS.some((each) => each === text);
}

function podUsage(uid: string, resource: StarvedResource, amount: number): PodUsage {
  return {
    uid,
    memory: resource === 'memory' ? { at: undefined, workingSetBytes: amount } : undefined,
    processCount: resource === 'pids' ? amount : undefined,
    cpuNanoCores: undefined,
    ioBytesPerSecond: undefined,
    ephemeralStorageBytes: undefined,
    containers: [],
    volumes: [],
  };
}

/** Signals whose thresholds the agent acts on; disks are left to the kubelet. */
export const SIGNALS = ['memory.available', 'allocatableMemory.available', 'pid.available'] as const;
export type SimulatedSignal = (typeof SIGNALS)[number];
