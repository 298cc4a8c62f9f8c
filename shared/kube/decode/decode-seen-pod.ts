import {
  type Amounts,
  compareQuantities,
  type Quantity,
  quantityFromInteger,
  NO_AMOUNTS,
} from '#shared/domain/quantity/quantity.ts';
import { chargeToPriorityQuota } from '#shared/domain/quota/charge.ts';
import type { PriorityLevel } from '#shared/domain/quota/priority-quota.ts';
import type { SeenPod } from '#shared/domain/quota/view/seen-pod.ts';
import { type KubeObject, readRevision } from '#shared/kube/kube-object.ts';
import {
  fieldOf,
  isRecord,
  decodeObject,
  readClippedText,
  readInt32,
  type WireObject,
  type Decoded,
  readAmounts,
  readList,
  readObject,
} from './wire-object.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { OBJECT_HEAD } from '#shared/kube/protobuf/kube-messages.ts';
import type { Pod, PodSpec, PodStatus } from '#shared/domain/pod/pod.ts';
import { podArithmetic } from './pod-arithmetic.ts';
import { readPod, readChargedContainer, readHeldResources, readResources } from './decode-pod.ts';

/** Above every limit. The API server stores amounts of thousands of digits, and every sum with one would be as long. */
const LARGEST_AMOUNT: Quantity = { ...quantityFromInteger(1, 'DecimalSI'), exponent: 24 };

/**
 * The facts about a stored pod that quotas need. Facts that cannot be decoded stay open, so that the counter can charge
 * the maximum for them. Throws if the object has no UID or no decimal resourceVersion.
 */
export function decodeSeenPod(raw: KubeObject): SeenPod {
  const { uid, namespace = '', name = '', resourceVersion, generation } = raw.metadata;
  const revision = readRevision(resourceVersion);
  if (uid === undefined || revision === undefined)
    throw new Error(`expected a UID and a decimal resourceVersion, got "${uid ?? ''}" and "${resourceVersion ?? ''}"`);
  return { uid, namespace, name, revision, generation: generation ?? 0, level: levelOf(raw), amounts: amountsOf(raw) };
}

function levelOf(raw: KubeObject): PriorityLevel | undefined {
  const level = decodeObject(fieldOf(raw, 'spec') ?? {}, readLevel);
  return level.ok ? level.value : undefined;
}

function readLevel(spec: WireObject): PriorityLevel {
  return { className: readClippedText(spec, 'priorityClassName') ?? '', priority: readInt32(spec, 'priority') ?? 0 };
}

function amountsOf(raw: KubeObject): Amounts | undefined {
  const pod = decodeChargedPod(raw);
  return pod.ok ? capped(chargeToPriorityQuota(pod.value)) : undefined;
}

function capped(amounts: Amounts): Amounts {
  const isTooLarge = (amount: Quantity): boolean => compareQuantities(amount, LARGEST_AMOUNT) > 0;
  if (![...amounts.values()].some(isTooLarge)) return amounts;
  return new Map(Array.from(amounts, ([name, amount]) => [name, isTooLarge(amount) ? LARGEST_AMOUNT : amount]));
}

const BARE_POD: Pod = readPod({});

/**
 * As `decodePod`, but reads only the fields that quotas charge. The others are empty and cannot make a pod unreadable.
 */
function decodeChargedPod(raw: unknown): Decoded<Pod> {
  return decodeObject(raw, (object) => ({
    ...BARE_POD,
    arithmetic: podArithmetic(),
    spec: { ...BARE_POD.spec, ...readObject(object, 'spec', readChargedSpec) },
    status: { ...BARE_POD.status, ...readObject(object, 'status', readChargedStatus) },
  }));
}

function readChargedSpec(spec: WireObject): Partial<PodSpec> {
  return {
    containers: readList(spec, 'containers', readChargedContainer),
    initContainers: readList(spec, 'initContainers', readChargedContainer),
    overhead: readAmounts(spec, 'overhead') ?? NO_AMOUNTS,
    resources: readObject(spec, 'resources', readResources),
  };
}

function readChargedStatus(status: WireObject): Partial<PodStatus> {
  return { phase: readClippedText(status, 'phase'), ...readHeldResources(status) };
}

/** The fields in the first bytes of a pod. */
interface PodHead {
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Longer than the longest names together. */
const HEAD_BYTES = 1_024;
const HEAD =
  /^(?:\{"type":"(?:ADDED|MODIFIED|DELETED)","object":)?\{(?:"kind":"Pod","apiVersion":"v1",)?"metadata":\{"name":"[^"\\]*",(?:"generateName":"[^"\\]*",)?"namespace":"([^"\\]*)","uid":"([^"\\]*)","resourceVersion":"([^"\\]*)"/;

/**
 * Identifies a pod by the first bytes of a list item or a watch line, so that most pods of a cluster need not be
 * parsed. kube-apiserver always writes these fields first and in this order. `undefined` for bytes with another
 * beginning, which have to be parsed.
 */
export function peekPod(json: Buffer): PodHead | undefined {
  const [, namespace, uid, resourceVersion] = HEAD.exec(json.toString('latin1', 0, HEAD_BYTES)) ?? [];
  if (namespace === undefined || uid === undefined || resourceVersion === undefined) return undefined;
  return { namespace, uid, resourceVersion };
}

/** As `peekPod` for a pod in protocol buffers: reads only its metadata. Throws UnreadableMessageError. */
export function peekPodMessage(message: Buffer): PodHead | undefined {
  const { metadata } = decodeMessage(OBJECT_HEAD, message);
  const { namespace, uid, resourceVersion } = isRecord(metadata) ? metadata : {};
  const isPod = typeof namespace === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string';
  return isPod ? { namespace, uid, resourceVersion } : undefined;
}
