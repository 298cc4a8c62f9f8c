import type { Instant, Pod, PodSpec, PodStatus } from '#shared/domain/pod/pod.ts';

/** What the pods of one owner have in common. */
export class PodTemplate {
  readonly namespace: string;
  readonly labels: Pod['labels'];
  #spec: PodSpec;
  #status: PodStatus;

  constructor({ namespace, labels, spec, status }: Pick<Pod, 'namespace' | 'labels' | 'spec' | 'status'>) {
    this.namespace = namespace;
    this.labels = labels;
    this.#spec = spec;
    this.#status = status;
  }

  /** The last one is kept, because a decision reads several fields of the same pod. */
  specOn(nodeName: string | undefined): PodSpec {
    if (this.#spec.nodeName !== nodeName) this.#spec = { ...this.#spec, nodeName };
    return this.#spec;
  }

  /** As `specOn`. */
  statusOf({ startTime, nominatedNodeName }: Omit<Placement, 'nodeName'>): PodStatus {
    const known = this.#status;
    if (known.startTime !== startTime || known.nominatedNodeName !== nominatedNodeName)
      this.#status = { ...known, startTime, nominatedNodeName };
    return this.#status;
  }
}

/** Where a pod is, or is to be, and since when. */
export interface Placement {
  readonly nodeName: string | undefined;
  readonly startTime: Instant | undefined;
  readonly nominatedNodeName: string | undefined;
}

type Identity = Pick<Pod, 'name' | 'uid' | 'annotations' | 'owners' | 'deletion'>;

/**
 * A pod that keeps only what differs from the other pods of its owner: a scheduler process holds every pod of a cluster,
 * and a spec and a status of its own would double the size of each. They are made when they are asked for.
 * What no decision about scheduling reads is absent.
 */
export class CompactPod implements Pod {
  readonly name: string;
  readonly uid: string;
  readonly annotations: Pod['annotations'];
  readonly owners: Pod['owners'];
  readonly deletion: Pod['deletion'];
  readonly #template: PodTemplate;
  readonly #nodeName: string | undefined;
  readonly #startTime: Instant | undefined;
  readonly #nominatedNodeName: string | undefined;

  constructor(identity: Identity, placement: Placement, template: PodTemplate) {
    this.name = identity.name;
    this.uid = identity.uid;
    this.annotations = identity.annotations;
    this.owners = identity.owners;
    this.deletion = identity.deletion;
    this.#template = template;
    this.#nodeName = placement.nodeName;
    this.#startTime = placement.startTime;
    this.#nominatedNodeName = placement.nominatedNodeName;
  }

  get namespace(): string {
    return this.#template.namespace;
  }

  get labels(): Pod['labels'] {
    return this.#template.labels;
  }

  get spec(): PodSpec {
    return this.#template.specOn(this.#nodeName);
  }

  get status(): PodStatus {
    return this.#template.statusOf({ startTime: this.#startTime, nominatedNodeName: this.#nominatedNodeName });
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
