import type { Instant, Pod, PodArithmetic, PodSpec, PodStatus } from '#shared/domain/pod/pod.ts';
import { podArithmetic } from '#shared/kube/decode/pod-arithmetic.ts';

/** What the pods of one owner have in common. */
export interface PodTemplate extends Pick<Pod, 'namespace' | 'labels' | 'annotations' | 'owners' | 'spec' | 'status'> {
  readonly key: string;
  readonly lastMade: LastMade;
}

/** The spec and the status that were built last, because a decision reads several fields of the same pod. */
export class LastMade {
  #specBase: PodSpec | undefined;
  #statusBase: PodStatus | undefined;
  #spec: PodSpec | undefined;
  #status: PodStatus | undefined;

  specOn(base: PodSpec, nodeName: string | undefined): PodSpec {
    const known = this.#spec;
    if (known !== undefined && this.#specBase === base && known.nodeName === nodeName) return known;
    this.#specBase = base;
    return (this.#spec = { ...base, nodeName });
  }

  statusOf(base: PodStatus, { startTime, nominatedNodeName }: Omit<Placement, 'nodeName'>): PodStatus {
    const known = this.#status;
    const isKnown = known?.startTime === startTime && known?.nominatedNodeName === nominatedNodeName;
    if (known !== undefined && this.#statusBase === base && isKnown) return known;
    this.#statusBase = base;
    return (this.#status = { ...base, startTime, nominatedNodeName });
  }
}

/** The node of a pod, or its nominated node, and the start time. */
export interface Placement {
  readonly nodeName: string | undefined;
  readonly startTime: Instant | undefined;
  readonly nominatedNodeName: string | undefined;
}

type Identity = Pick<Pod, 'name' | 'uid' | 'annotations' | 'deletion'>;

/** Fields that most pods do not have. */
type Rare = Pick<Identity, 'annotations' | 'deletion'> & Pick<Placement, 'nominatedNodeName'>;

const NOTHING_RARE: Rare = { annotations: new Map(), deletion: undefined, nominatedNodeName: undefined };

/**
 * A pod that stores only its differences from the other pods of its owner. A scheduler process holds every pod of a
 * cluster, and a separate spec and status would double the size of each. They are built on access. Fields that no
 * scheduling decision reads are absent.
 */
export class CompactPod implements Pod {
  readonly name: string;
  readonly uid: string;
  readonly #rare: Rare;
  readonly #template: PodTemplate;
  readonly #nodeName: string | undefined;
  /** Seconds since 1970: V8 keeps them in the pod itself, while milliseconds would need an object each. */
  readonly #startSeconds: number | undefined;

  constructor({ name, uid, ...identity }: Identity, placement: Placement, template: PodTemplate) {
    const { nodeName, startTime, nominatedNodeName } = placement;
    this.name = name;
    this.uid = uid;
    this.#rare = orNothing({ ...identity, nominatedNodeName });
    this.#template = template;
    this.#nodeName = nodeName;
    this.#startSeconds = startTime === undefined ? undefined : startTime / 1_000;
  }

  get template(): PodTemplate {
    return this.#template;
  }

  get namespace(): string {
    return this.#template.namespace;
  }

  get labels(): Pod['labels'] {
    return this.#template.labels;
  }

  /** The pod's own annotations, which are rare, include those of its template. */
  get annotations(): Pod['annotations'] {
    return this.#rare.annotations.size === 0 ? this.#template.annotations : this.#rare.annotations;
  }

  get owners(): Pod['owners'] {
    return this.#template.owners;
  }

  get deletion(): Pod['deletion'] {
    return this.#rare.deletion;
  }

  get spec(): PodSpec {
    const { spec, lastMade } = this.#template;
    return lastMade.specOn(spec, this.#nodeName);
  }

  get status(): PodStatus {
    const { status, lastMade } = this.#template;
    const startTime = this.#startSeconds === undefined ? undefined : Math.round(this.#startSeconds * 1_000);
    return lastMade.statusOf(status, { startTime, nominatedNodeName: this.#rare.nominatedNodeName });
  }

  get arithmetic(): PodArithmetic {
    return podArithmetic();
  }

  get generateName(): undefined {
    return undefined;
  }

  get resourceVersion(): undefined {
    return undefined;
  }

  get createdAt(): undefined {
    return undefined;
  }
}

function orNothing({ annotations, deletion, nominatedNodeName }: Rare): Rare {
  const isNothing = annotations.size === 0 && deletion === undefined && nominatedNodeName === undefined;
  return isNothing ? NOTHING_RARE : { annotations, deletion, nominatedNodeName };
}

const MIB = 1024 * 1024;
const MAX_OF_NAMESPACE = 2 * MIB;
const MAX_COUNTS = 16 * MIB;
/** The text of a pod's read fields is rarely longer. */
const ORDINARY_LENGTH = 4_096;

/** The key and namespace of a template, and its length as text. In memory it takes about seven times as much. */
export interface TemplateKey {
  readonly key: string;
  readonly namespace: string;
  readonly length: number;
}

/** Builds a template that knows its key. */
type MakeTemplate = (key: string) => PodTemplate;

interface SharedTemplate extends TemplateKey {
  readonly template: PodTemplate;
  users: number;
}

/**
 * Pod templates. Each is kept once for all of its pods and dropped with the last of them. Unusually large templates
 * share one limit, and those of one namespace a smaller one, so that a tenant can fill only its own share.
 */
export class TemplatePool {
  readonly #kept = new Map<string, SharedTemplate>();
  readonly #largeLengths = new Map<string, number>();
  #largeLength = 0;

  /**
   * The template for one more pod, built if no other pod uses it. Without room for a large template, it is a bare one.
   */
  take(key: TemplateKey, make: MakeTemplate, makeBare: MakeTemplate): PodTemplate {
    const hasWhole = this.#kept.has(key.key) || this.#hasRoomFor(key);
    const kept = hasWhole ? this.#keep(key, make) : this.#keep(bareKeyOf(key), makeBare);
    kept.users += 1;
    return kept.template;
  }

  /** A pod that used the template is gone. */
  release({ key }: PodTemplate): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    kept.users -= 1;
    if (kept.users > 0) return;
    this.#kept.delete(key);
    this.#count(kept, -kept.length);
  }

  #keep(key: TemplateKey, make: MakeTemplate): SharedTemplate {
    return this.#kept.get(key.key) ?? this.#add(key, make);
  }

  #add(key: TemplateKey, make: MakeTemplate): SharedTemplate {
    const kept = { ...key, template: make(key.key), users: 0 };
    this.#kept.set(key.key, kept);
    this.#count(key, key.length);
    return kept;
  }

  #hasRoomFor({ namespace, length }: TemplateKey): boolean {
    if (length <= ORDINARY_LENGTH) return true;
    const ofNamespace = this.#largeLengths.get(namespace) ?? 0;
    return ofNamespace + length <= MAX_OF_NAMESPACE && this.#largeLength + length <= MAX_COUNTS;
  }

  #count({ namespace, length }: TemplateKey, change: number): void {
    if (length <= ORDINARY_LENGTH) return;
    const left = (this.#largeLengths.get(namespace) ?? 0) + change;
    if (left === 0) this.#largeLengths.delete(namespace);
    else this.#largeLengths.set(namespace, left);
    this.#largeLength += change;
  }
}

function bareKeyOf(key: TemplateKey): TemplateKey {
  return { ...key, key: `${key.key} bare`, length: 0 };
}

/** The template of a pod, if the pod is stored compactly. */
export function templateOf(pod: Pod): PodTemplate | undefined {
  return pod instanceof CompactPod ? pod.template : undefined;
}
