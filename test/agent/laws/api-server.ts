import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { failureOf, type Outcome } from '#shared/kube/client/outcome.ts';
import { isUntouchable, type LawNode, type LivePod } from './node.ts';
import { podObject } from './pod-object.ts';
import type { ApiFault } from './scenario.ts';

/** What an eviction request that reached the API server is judged by. */
export type OnEviction = (pod: LivePod) => void;

const SLOW_MS = 2000;

interface Waiting {
  readonly atMs: number;
  readonly resolve: () => void;
}

/** The API server of an episode, in simulated time, with its faults. The agent's own shells talk to it. */
export class LawApiServer {
  readonly #node: LawNode;
  readonly #onEviction: OnEviction;
  #waiting: readonly Waiting[] = [];

  constructor(node: LawNode, onEviction: OnEviction) {
    this.#node = node;
    this.#onEviction = onEviction;
  }

  readonly client: KubeClient = {
    request: (request) => this.#request(request),
    stream: () => Promise.resolve({ kind: 'unreachable', message: 'not served' }),
    close: () => undefined,
  };

  fault(kind?: ApiFault['kind']): ApiFault | undefined {
    const { nowMs, scenario } = this.#node;
    return scenario.api.find(
      (each) => nowMs >= each.fromMs && nowMs < each.toMs && (kind === undefined || each.kind === kind),
    );
  }

  /** Resolves what is due now; whether anything was. */
  tick(): boolean {
    const { nowMs } = this.#node;
    const due = this.#waiting.filter(({ atMs }) => atMs <= nowMs);
    if (due.length === 0) return false;
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs > nowMs);
    for (const { resolve } of due) resolve();
    return true;
  }

  /** Resolves once the episode has gone on for so long. */
  after(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#waiting = [...this.#waiting, { atMs: this.#node.nowMs + ms, resolve: () => resolve(undefined) }];
    return promise;
  }

  async #request(request: KubeRequest): Promise<Outcome<unknown>> {
    const fault = this.fault();
    const isWell = fault === undefined || fault.kind === 'watchStalls';
    const outcome = await (isWell ? this.#handle(request) : this.#faulty(fault, request));
    if (outcome.kind !== 'ok') this.#node.refusedAtMs = this.#node.nowMs;
    return outcome;
  }

  async #faulty({ kind, retryAfterSeconds }: ApiFault, request: KubeRequest): Promise<Outcome<unknown>> {
    const retryAfter = retryAfterSeconds === undefined ? undefined : String(retryAfterSeconds);
    switch (kind) {
      case 'throttled':
        return failureOf(429, { message: 'too many requests' }, retryAfter);
      case 'serverError':
        return failureOf(500, { message: 'etcdserver: request timed out' }, retryAfter);
      case 'unreachable':
        return { kind: 'unreachable', message: 'connect ECONNREFUSED' };
      case 'timeout': {
        // The request took effect: only its answer is lost.
        this.#handle(request);
        await this.after(request.timeoutMs ?? 30_000);
        return { kind: 'timeout', message: 'no answer' };
      }
      default: {
        await this.after(SLOW_MS);
        return this.#handle(request);
      }
    }
  }

  #handle({ path, body, query }: KubeRequest): Outcome<unknown> {
    const [, , , , name, , podName, subresource] = path.split('/');
    if (podName === undefined) return ok({ metadata: { name } });
    const pod = this.#node.present().findLast((each) => each.spec.name === podName);
    if (pod === undefined) return failureOf(404, { message: `pods "${podName}" not found` });
    if (subresource !== 'eviction') return read(pod, this.#node.nowMs);
    return query?.['dryRun'] === 'All' ? (refusalOf(pod) ?? ok({})) : this.#evict(pod, graceOf(body));
  }

  #evict(pod: LivePod, graceSeconds: number): Outcome<unknown> {
    this.#onEviction(pod);
    const refusal = refusalOf(pod);
    if (refusal !== undefined) return refusal;
    pod.acceptedAtMs ??= this.#node.nowMs;
    this.#node.delete(pod, graceSeconds);
    return ok({ kind: 'Status', status: 'Success' });
  }
}

function graceOf(body: unknown): number {
  const { deleteOptions } = body as { readonly deleteOptions: { readonly gracePeriodSeconds: number } };
  return deleteOptions.gracePeriodSeconds;
}

function ok(object: unknown): Outcome<unknown> {
  return { kind: 'ok', object, warnings: [] };
}

function read(pod: LivePod, atMs: number): Outcome<unknown> {
  if (pod.spec.fault === 'getFails') return failureOf(500, { message: 'cannot read' });
  return ok(podObject(pod, atMs));
}

function refusalOf({ spec, deletion }: LivePod): Outcome<unknown> | undefined {
  if (isUntouchable(spec)) throw new Error(`the agent asks for ${spec.name}, which the kubelet refuses to evict`);
  if (deletion !== undefined) return undefined;
  switch (spec.fault) {
    case 'budget': {
      const causes = [{ reason: 'DisruptionBudget', message: 'needs 1 healthy pods and has 1 currently' }];
      return failureOf(429, {
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: { causes },
      });
    }
    case 'twoBudgets':
      return failureOf(500, {
        message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      });
    case 'evictFails':
      return failureOf(500, { message: 'failed calling webhook "other.example.com"' });
    case 'forbidden':
      return failureOf(403, { message: 'denied' });
    default:
      return undefined;
  }
}
