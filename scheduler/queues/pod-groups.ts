import { putBounded } from '#shared/domain/base/memoize.ts';
import { type GangFacts, gangKey, MAX_GANG_SIZE, type MinOfGroup, type PodGroupApi } from '#shared/domain/gang/gang.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { COSCHEDULING_GROUPS, NATIVE_GROUPS, type Resource } from '#shared/kube/resource.ts';

/** Where PodGroups are served, the newest version first. */
const RESOURCES: Readonly<Record<PodGroupApi, readonly Resource[]>> = {
  'scheduling.k8s.io': NATIVE_GROUPS,
  'scheduling.x-k8s.io': [COSCHEDULING_GROUPS],
};
const READS_PER_ROUND = 20;
const ASKED_PER_NAMESPACE = 100;
const AGAIN_MS = 30_000;
/** How long pods wait for a group that is not there: whatever makes both may make the pods first. */
const MISSING_MS = 60_000;
const MAX_REMEMBERED = 10_000;

interface GroupName {
  readonly api: PodGroupApi;
  readonly namespace: string;
  readonly name: string;
}

interface ReadGroup {
  readonly min: MinOfGroup;
  readonly readAt: number;
  /** Since when it is not there. */
  readonly missingSince: number | undefined;
}

/**
 * The PodGroups that waiting pods name, read one by one when a pass asks for them: a cluster without such pods has no
 * watch and no request for them, and need not serve the kind.
 */
export class PodGroups {
  readonly #ports: Pick<ClientContext, 'client' | 'clock'>;
  readonly #known = new Map<string, ReadGroup>();
  /** What is to be read, by namespace; the one that was served last is the last one. */
  readonly #asked = new Map<string, Map<string, GroupName>>();
  #changes = 0;

  constructor(ports: Pick<ClientContext, 'client' | 'clock'>) {
    this.#ports = ports;
  }

  /** Rises with each minimum that is another one than before. */
  get changes(): number {
    return this.#changes;
  }

  readonly minOf: GangFacts['minOf'] = (group) => {
    const key = keyOf(group);
    const known = this.#known.get(key);
    const isOld = known === undefined || this.#now - known.readAt >= AGAIN_MS;
    if (isOld) this.#ask(key, group);
    return known === undefined ? 'Unread' : known.min;
  };

  /** Reads some of those that were asked for, of each namespace in turn. Never rejects. */
  async read(signal: AbortSignal): Promise<void> {
    for (let reads = 0; reads < READS_PER_ROUND && !signal.aborted; reads += 1) {
      const group = this.#next();
      if (group === undefined) return;
      this.#note(group, await this.#find(group, signal));
    }
  }

  /** A tenant with many groups keeps those of others neither out nor waiting; what is left out is asked again. */
  #ask(key: string, group: GroupName): void {
    const asked = this.#asked.get(group.namespace) ?? new Map<string, GroupName>();
    if (asked.size < ASKED_PER_NAMESPACE) this.#asked.set(group.namespace, asked.set(key, group));
  }

  #next(): GroupName | undefined {
    for (const [namespace, asked] of this.#asked) {
      this.#asked.delete(namespace);
      for (const [key, group] of asked) {
        asked.delete(key);
        if (asked.size > 0) this.#asked.set(namespace, asked);
        return group;
      }
    }
    return undefined;
  }

  get #now(): number {
    return this.#ports.clock.monotonic();
  }

  /** A kind or version that is not served is not found, as an object is that does not exist. */
  async #find({ api, namespace, name }: GroupName, signal: AbortSignal): Promise<Outcome<KubeObject> | undefined> {
    let outcome: Outcome<KubeObject> | undefined;
    for (const resource of RESOURCES[api]) {
      const address = { resource, namespace, name };
      outcome = await getObject(this.#ports.client, address, { timeoutMs: 5_000, signal });
      if (outcome.kind !== 'notFound') return outcome;
    }
    return outcome;
  }

  #note(group: GroupName, outcome: Outcome<KubeObject> | undefined): void {
    const key = keyOf(group);
    const before = this.#known.get(key);
    const missingSince = outcome?.kind === 'ok' ? undefined : (before?.missingSince ?? this.#now);
    const min =
      outcome?.kind === 'ok'
        ? minIn(group.api, outcome.object)
        : this.#withoutGroup(before, missingSince, outcome?.kind);
    if (before?.min !== min) this.#changes += 1;
    putBounded(this.#known, MAX_REMEMBERED, [key, { min, readAt: this.#now, missingSince }]);
  }

  /** A group that cannot be read keeps what was read of it; one that is gone, or never was read, keeps no pod for long. */
  #withoutGroup(before: ReadGroup | undefined, missingSince = this.#now, kind = 'notFound'): MinOfGroup {
    const known = typeof before?.min === 'number' ? before.min : undefined;
    const isOver = this.#now - missingSince >= MISSING_MS && (known === undefined || kind === 'notFound');
    return isOver ? 'None' : known;
  }
}

function keyOf({ api, namespace, name }: GroupName): string {
  return `${api}/${gangKey(namespace, name)}`;
}

/** A group whose pods are placed one by one is no gang. */
function minIn(api: PodGroupApi, { spec }: KubeObject): MinOfGroup {
  const policy = fieldOf(fieldOf(spec, 'schedulingPolicy'), 'gang');
  const min = api === 'scheduling.k8s.io' ? fieldOf(policy, 'minCount') : fieldOf(spec, 'minMember');
  const isUsable = typeof min === 'number' && Number.isInteger(min) && min > 0 && min <= MAX_GANG_SIZE;
  return isUsable ? min : 'None';
}
