import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
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
import type { NamedUsage } from '#shared/decide/simulation/pod-usage.ts';
import { doubledPod, expectedMetrics, expectedUsage, memoryOnly } from './messages.ts';

/** A document names its kind; a line of usage has no colon. */
const DOCUMENT = /^\s*\{|^(apiVersion|kind):/m;

/**
 * Reads `namespace/pod amount` lines (`#` begins a comment), or a PodMetricsList of metrics.k8s.io, which has only
 * memory. Throws an InputError that names the line or the field.
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
    // A pod with an unmeasured container has no figure: its sum would be too small.
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
