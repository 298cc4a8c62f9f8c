import type { KubeClient } from '#shared/kube/client/client.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { letTimePass } from '#test/build/waiting.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { at, textAt, type WatchLine } from '#test/contract/harness.ts';
import { followLines } from '#test/cluster/scheduler/removals/watch-lines.ts';
import type { Work } from '#test/scheduler/queues/gang-throughput/arrivals.ts';
import { gatesOf, pods as podsPath } from './queue-scene.ts';

export interface GangLoadPorts {
  readonly admin: KubeClient;
  readonly namespace: string;
  /** CPUs of each node. */
  readonly cpuPerNode: number;
  readonly createPod: (work: Work, name: string) => Promise<void>;
  /** For how many milliseconds since then no leader has led: meanwhile none can send a gang back. */
  readonly leaderlessMs?: (since: number) => number;
}

interface LivePod {
  readonly name: string;
  readonly uid: string;
  readonly cpu: number;
  readonly node: string | undefined;
  /** Behind its gate. */
  readonly nominatedTo: string | undefined;
  /** When it has to be gone. */
  readonly endsAt: number | undefined;
}

interface Running {
  readonly work: Work;
  /** Names of its pods, seen or not. */
  readonly names: Set<string>;
  wholeSince: number | undefined;
  partSince: number | undefined;
}

const TURN_MS = 100;
const AT_ONCE = 16;
const NOW = { gracePeriodSeconds: 0 };

/** Owners and kubelets of pods that run together or alone; it watches them, and notes what should never be. */
export class GangLoad {
  readonly #ports: GangLoadPorts;
  readonly #ended = new AbortController();
  readonly #lines: WatchLine[] = [];
  readonly #live = new Map<string, Running>();
  readonly #pods = new Map<string, LivePod>();
  #following: Promise<unknown> = Promise.resolve();
  #made = 0;
  /** Seconds for which a gang was on nodes in part while a leader led, at most. */
  longestPart = 0;
  /** Nodes to which more is nominated at once than they have. */
  readonly overNominated = new Set<string>();
  finished = 0;

  constructor(ports: GangLoadPorts) {
    this.#ports = ports;
  }

  async begin(): Promise<void> {
    const { admin, namespace } = this.#ports;
    this.#following = (await followLines(admin, podsPath(namespace), this.#lines, this.#ended.signal)).following;
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#following;
  }

  get unfinished(): readonly string[] {
    return [...this.#live.keys()];
  }

  arrive(work: Work): void {
    this.#live.set(work.name, { work, names: new Set(), wholeSince: undefined, partSince: undefined });
  }

  /** What owners and kubelets do next. */
  async turn(): Promise<void> {
    for (const line of this.#lines.splice(0)) this.#note(line);
    const now = systemClock.now();
    for (const running of this.#live.values()) this.#follow(running, now);
    await inFlight(AT_ONCE, this.#due(now), (pod) => this.#remove(pod));
    const wanted = [...this.#live.values()].flatMap(({ work, names }) =>
      Array.from({ length: work.size - names.size }, () => ({ work, names })),
    );
    await inFlight(AT_ONCE, wanted, async ({ work, names }) => {
      const name = `${work.name}-${(this.#made += 1)}`;
      names.add(name);
      await this.#ports.createPod(work, name);
    });
    await letTimePass(TURN_MS, 'double');
  }

  /** The node is gone, and its pods with it. */
  async loseNode(node: string): Promise<void> {
    await this.#ports.admin.request({ method: 'DELETE', path: `/api/v1/nodes/${node}` });
    const lost = [...this.#pods.values()].filter((pod) => pod.node === node);
    await inFlight(AT_ONCE, lost, (pod) => this.#remove(pod));
  }

  /** What has to be gone, or has done its work. */
  #due(now: number): readonly LivePod[] {
    return [...this.#pods.values()].filter(
      ({ name, endsAt = Infinity }) => endsAt <= now || !this.#live.has(workOf(name)),
    );
  }

  async #remove({ name, uid }: LivePod): Promise<void> {
    const path = podsPath(this.#ports.namespace, name);
    await this.#ports.admin.request({ method: 'DELETE', path, body: { ...NOW, preconditions: { uid } } });
  }

  #note({ type, object }: WatchLine): void {
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return;
    const pod = livePod(object);
    if (type !== 'DELETED') this.#pods.set(pod.name, pod);
    else {
      this.#pods.delete(pod.name);
      this.#live.get(workOf(pod.name))?.names.delete(pod.name);
    }
    if (pod.nominatedTo !== undefined) this.#checkNominated(pod.nominatedTo);
  }

  #checkNominated(node: string): void {
    const gated = [...this.#pods.values()].filter(({ nominatedTo }) => nominatedTo === node);
    const sum = gated.reduce((total, { cpu }) => total + cpu, 0);
    if (sum > this.#ports.cpuPerNode) this.overNominated.add(`${node}: ${sum}`);
  }

  #follow(running: Running, now: number): void {
    const { work, names } = running;
    const on = [...names].filter((name) => isOn(this.#pods.get(name))).length;
    running.wholeSince = on === work.size ? (running.wholeSince ?? now) : undefined;
    running.partSince = on > 0 && on < work.size ? (running.partSince ?? now) : undefined;
    const { leaderlessMs = () => 0 } = this.#ports;
    const since = running.partSince ?? now;
    this.longestPart = Math.max(this.longestPart, (now - since - leaderlessMs(since)) / 1_000);
    if (now - (running.wholeSince ?? now) < work.seconds * 1_000) return;
    this.finished += 1;
    this.#live.delete(work.name);
  }
}

function isOn(pod: LivePod | undefined): boolean {
  return pod?.node !== undefined && pod.endsAt === undefined;
}

/** A pod is called after its work. */
function workOf(name: string): string {
  return name.slice(0, name.lastIndexOf('-'));
}

function livePod(object: unknown): LivePod {
  const endsAt = at(object, 'metadata.deletionTimestamp');
  const nominated = gatesOf(object).length > 0 ? at(object, 'status.nominatedNodeName') : undefined;
  return {
    name: textAt(object, 'metadata.name'),
    uid: textAt(object, 'metadata.uid'),
    cpu: Number(textAt(object, 'spec.containers.0.resources.requests.cpu')),
    node: textOrNone(at(object, 'spec.nodeName')),
    nominatedTo: textOrNone(nominated),
    endsAt: typeof endsAt === 'string' ? Date.parse(endsAt) : undefined,
  };
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
