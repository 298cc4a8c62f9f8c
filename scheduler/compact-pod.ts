import type { Instant, Pod, PodSpec, PodStatus } from '#shared/domain/pod/pod.ts';

/** What the pods of one owner have in common. */
export interface PodTemplate extends Pick<Pod, 'namespace' | 'labels' | 'owners' | 'spec' | 'status'> {
  readonly key: string;
  readonly lastMade: LastMade;
}

/** The spec and the status that were made last, because a decision reads several fields of the same pod. */
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

/** Where a pod is, or is to be, and since when. */
export interface Placement {
  readonly nodeName: string | undefined;
  readonly startTime: Instant | undefined;
  readonly nominatedNodeName: string | undefined;
}

type Identity = Pick<Pod, 'name' | 'uid' | 'annotations' | 'deletion'>;

/** What most pods do not have. */
type Rare = Pick<Identity, 'annotations' | 'deletion'> & Pick<Placement, 'nominatedNodeName'>;

const NOTHING_RARE: Rare = { annotations: new Map(), deletion: undefined, nominatedNodeName: undefined };

/**
 * A pod that keeps only what differs from the other pods of its owner: a scheduler process holds every pod of a cluster,
 * and a spec and a status of its own would double the size of each. They are made when they are asked for.
 * What no decision about scheduling reads is absent.
 */
export class CompactPod implements Pod {
  readonly name: string;
  readonly uid: string;
  readonly #rare: Rare;
  readonly #template: PodTemplate;
  readonly #nodeName: string | undefined;
  /** In seconds since 1970, which V8 keeps in the pod itself; milliseconds would be an object each. */
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

  get annotations(): Pod['annotations'] {
    return this.#rare.annotations;
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
