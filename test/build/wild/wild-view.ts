import { declaredCapacity, decodeQueue, queueDirectory } from '#shared/api/queue.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putBudget, putNamespace, putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { decodeBudget, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { BelievedNodes } from '#shared/decide/queues/believed-nodes.ts';
import { planPass, type QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuePassInput } from '#shared/decide/queues/sort-pods.ts';
import { QueueCharges, PodAmounts } from '#shared/decide/queues/queue-charges.ts';
import { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { UnplacedPods } from '#shared/decide/queues/unplaced-pods.ts';
import { createPodSink } from '#scheduler/pod-sink.ts';
import { templateOf } from '#scheduler/compact-pod.ts';
import { valueOf } from '#test/build/value-of.ts';
import type { WildCluster } from './wild-cluster.ts';

/** A wild cluster as the scheduler process sees it, by its own readers, and its decisions. */
export class WildView {
  readonly snapshot = emptySnapshot();
  readonly pods: QueuedPods;
  readonly charges: QueueCharges;
  readonly amounts = new PodAmounts(templateOf);
  readonly believed = new BelievedNodes();
  readonly promises = new UnplacedPods({ checksPerPass: 200 });
  /** What could not be read. */
  readonly problems: string[] = [];
  readonly queues: QueuePassInput['directory'];
  readonly #capacity: QueuePassInput['capacity'];
  now: number;
  readonly #sink: ReturnType<typeof createPodSink>;

  constructor({ now, namespaces, nodes, pods, budgets, queues }: WildCluster) {
    this.now = now;
    this.pods = new QueuedPods({ now: () => this.now }, templateOf);
    this.charges = new QueueCharges(this.amounts);
    const objects = queues.map((queue) => valueOf(decodeQueue(queue)));
    this.queues = queueDirectory(objects);
    this.#capacity = declaredCapacity(objects);
    this.#sink = createPodSink(this.snapshot, (error, text) => void this.problems.push(`${text}: ${String(error)}`), {
      observePod: (seen, snapshot) => {
        this.pods.observe(seen, snapshot);
        this.charges.observe(seen, snapshot);
      },
      observeGone: (uid) => {
        this.pods.gone(uid);
        this.charges.gone(uid);
      },
    });
    for (const each of namespaces) putNamespace(this.snapshot, valueOf(decodeNamespace(each)));
    this.noteDaemonSets(pods);
    for (const each of nodes) this.seeNode(each);
    for (const each of budgets) putBudget(this.snapshot, valueOf(decodeBudget(each)));
    for (const each of pods) this.#sink.set(each);
  }

  seeNode(node: KubeObject): void {
    putNode(this.snapshot, valueOf(decodeNode(node)));
  }

  seePod(pod: KubeObject): void {
    this.#sink.set(pod);
  }

  /** Those that pods name exist. */
  noteDaemonSets(pods: readonly KubeObject[]): void {
    for (const { metadata } of pods) {
      const owners = (metadata['ownerReferences'] ?? []) as readonly { kind: string; name: string; uid: string }[];
      for (const { kind, name, uid } of owners)
        if (kind === 'DaemonSet') this.snapshot.daemonSets.set(`${metadata.namespace}/${name}`, uid);
    }
  }

  /** One pass of the leader of the queues. */
  plan(changes: Partial<QueuePassInput> = {}): QueuePlan {
    const { pods, snapshot, now, believed, promises, queues: directory } = this;
    const settings = { isReclaiming: true, reclaimBy: 'Guarantees', replacements: 'First' } as const;
    const input = { pods, snapshot, now, believed, promises, directory, capacity: this.#capacity };
    return finish(planPass({ ...input, ...settings, ...changes }));
  }
}
