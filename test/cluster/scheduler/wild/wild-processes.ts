import { dirname } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { WEBHOOK } from '#test/cluster/support/accounts.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { startShipped } from '#test/cluster/support/shipped-set.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const DOWN_MS = 8_000;
const ANSWER_MS = 5_000;
const UP_WITHIN_MS = 120_000;
/** A right by a role of the cluster, and one by a role of a namespace. */
const RIGHTS = [
  { verb: 'watch', resource: 'pods' },
  {
    verb: 'get',
    group: 'coordination.k8s.io',
    resource: 'leases',
    name: 'plimsoll-webhook',
    namespace: WEBHOOK.namespace,
  },
];

interface Running {
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** All processes that are shipped, two of them leaders of queues in turn, and faults among them. */
export class WildProcesses {
  readonly #own: OwnCluster;
  readonly #starts: Readonly<Record<string, () => Promise<Running>>>;
  readonly #running = new Map<string, Running>();
  readonly #starting: (readonly [from: number, to: number])[] = [];

  constructor(own: OwnCluster, extenderPort: number) {
    this.#own = own;
    const queues = () => startShipped(own, 'queues');
    const { admin: client, connection, cluster } = own;
    const webhook = { folder: dirname(cluster.kubeconfig), client, connection, failurePolicy: 'Ignore' } as const;
    this.#starts = {
      webhook: () => startInstalledWebhook(webhook),
      extender: () => startShipped(own, 'control-plane-extender', [], { port: extenderPort }),
      record: () => startShipped(own, 'disruption-record'),
      nodes: () => startShipped(own, 'node-controller'),
      rescheduling: () => startShipped(own, 'rescheduling'),
      queues,
      'other queues': queues,
    };
  }

  async start(): Promise<void> {
    for (const name of Object.keys(this.#starts)) await this.#start(name);
  }

  /** What fails in the next turn, and comes again. */
  async fail(turn: number): Promise<void> {
    const faults = [
      () => this.#again('queues'),
      () => this.#apiServer(),
      () => this.#again('webhook'),
      () => this.#again('other queues'),
      () => this.#again('record'),
    ];
    await faults[turn % faults.length]?.();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((each) => each.stop()));
  }

  async #start(name: string): Promise<void> {
    const started = await this.#starts[name]?.();
    if (started !== undefined) this.#running.set(name, started);
  }

  async #again(name: string): Promise<void> {
    await this.#running.get(name)?.kill();
    await letTimePass(DOWN_MS, 'double');
    await this.#start(name);
  }

  /** Whether the API server was ending or starting then. */
  isStarting(at: number): boolean {
    return this.#starting.some(([from, to]) => from <= at && at <= to);
  }

  async #apiServer(): Promise<void> {
    const from = systemClock.now();
    await this.#own.cluster.stop('kube-apiserver');
    await letTimePass(DOWN_MS, 'double');
    await this.#own.cluster.start('kube-apiserver');
    await eventually(() => this.#knowsRoles(), UP_WITHIN_MS);
    this.#starting.push([from, systemClock.now()]);
  }

  /** Before it does, it answers all the same, and refuses every account but the administrators. */
  async #knowsRoles(): Promise<void> {
    const user = `system:serviceaccount:${WEBHOOK.namespace}:${WEBHOOK.name}`;
    for (const resourceAttributes of RIGHTS) {
      const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
      const body = { spec: { user, resourceAttributes } };
      const outcome = await this.#own.admin.request({ method: 'POST', path, body, timeoutMs: ANSWER_MS });
      expect(outcome).toMatchObject({ kind: 'ok', object: { status: { allowed: true } } });
    }
  }
}
