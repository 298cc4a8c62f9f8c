import type { Steps } from '#shared/domain/model/steps.ts';
import { type Decoded, parseJson } from '#shared/kube/decode/wire-object.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { endOfValue, readPart, type Shape } from './large-json.ts';

/** The body of a request of kube-scheduler, with its pod parsed. */
export interface RequestBody {
  /** The raw pod, or the requested part of a very large one. `undefined` if the body starts with another field. */
  readonly pod: unknown;
  readonly isPodLarge: boolean;
  /** Some of that part was not read: the pod's identity is known, but not all of its requirements. */
  readonly isPodCutShort: boolean;
  /**
   * The text of the other fields, from the comma after the pod; the whole text if the body starts with another field.
   */
  readonly others: string;
}

/** Ordinary pods have a few KiB. A pod of this size is parsed and decoded in a few milliseconds. */
const MAX_POD_BYTES = 256 * 1024;
/** `k8s.io/kube-scheduler/extender/v1` types.go puts the pod first in both kinds of request. */
const BEFORE_POD = '{"Pod":';
const COMMA = 0x2c;

const NAMES = {
  namespace: 'always',
  name: 'always',
  uid: 'always',
  ownerReferences: 'controller',
} as const satisfies Shape;
const REQUESTS = { requests: 'whole' } as const satisfies Shape;
const STATUS = { nominatedNodeName: 'always' } as const satisfies Shape;
const AMOUNTS = { overhead: 'whole', resources: REQUESTS } as const satisfies Shape;
const IMPORTANCE = { priority: 'always', priorityClassName: 'always', preemptionPolicy: 'always' } as const;

/** The fields that matter for set-aside room and avoided nodes. */
export const SIZED_POD: Shape = {
  metadata: NAMES,
  spec: {
    ...IMPORTANCE,
    ...AMOUNTS,
    containers: { resources: REQUESTS },
    initContainers: { resources: REQUESTS, restartPolicy: 'whole' },
  },
  status: STATUS,
};

/** The fields that matter for a preemption. */
export const PREEMPTING_POD: Shape = {
  metadata: { ...NAMES, labels: 'whole' },
  spec: {
    ...IMPORTANCE,
    ...AMOUNTS,
    containers: { resources: REQUESTS, ports: 'whole' },
    initContainers: { resources: REQUESTS, ports: 'whole', restartPolicy: 'whole' },
    hostNetwork: 'always',
    nodeName: 'always',
    nodeSelector: 'whole',
    tolerations: 'whole',
    affinity: 'whole',
    topologySpreadConstraints: 'whole',
    volumes: { name: 'whole', '*': 'present' },
    resourceClaims: { name: 'whole' },
  },
  status: STATUS,
};

/**
 * Parses the pod of a request and leaves the rest as text. A tenant decides how large its pod is: the largest one that
 * etcd stores has 8.6 MiB of JSON. For a pod above 256 KiB, only the fields of the given shape are read, in steps.
 */
export function* readRequestBody(bytes: Buffer, part: Shape): Steps<Decoded<RequestBody>> {
  const from = BEFORE_POD.length;
  const isUsual = bytes.toString('latin1', 0, from) === BEFORE_POD;
  const end = isUsual ? yield* endOfValue(bytes, from) : 0;
  if (end === 0 || bytes[end] !== COMMA) return readWhole(undefined, bytes.toString('utf8'));
  const others = bytes.toString('utf8', end);
  if (end - from > MAX_POD_BYTES) return yield* readLargePod(bytes, part, others);
  const pod = parseJson(bytes.toString('utf8', from, end));
  return pod.ok ? readWhole(pod.value, others) : pod;
}

function readWhole(pod: unknown, others: string): Decoded<RequestBody> {
  return { ok: true, value: { pod, isPodLarge: false, isPodCutShort: false, others } };
}

/** All fields of a request. */
export function parseFields({ pod, others }: RequestBody): Decoded<unknown> {
  return others.startsWith(',') ? withPod(parseJson(`{${others.slice(1)}`), pod) : parseJson(others);
}

function withPod(parsed: Decoded<unknown>, Pod: unknown): Decoded<unknown> {
  return parsed.ok && isRecord(parsed.value) ? { ok: true, value: { ...parsed.value, Pod } } : parsed;
}

function* readLargePod(bytes: Buffer, part: Shape, others: string): Steps<Decoded<RequestBody>> {
  try {
    const { value: pod, isCutShort } = yield* readPart(bytes, BEFORE_POD.length, part);
    return { ok: true, value: { pod, isPodLarge: true, isPodCutShort: isCutShort, others } };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, field: 'Pod', message: `not valid JSON: ${error.message}` };
    throw error;
  }
}
