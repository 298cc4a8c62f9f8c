import { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { ViewProof } from '#shared/domain/quota/view/seen-pod.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createPageSize } from '#shared/kube/reflector/reflector-target.ts';
import { reflectorMetrics, type ReflectorMetrics } from '#shared/kube/reflector/list-watch.ts';
import {
  isFailure,
  planAfter,
  PROMPT_BACKOFF,
  type Plan,
  type EndedReading,
} from '#shared/kube/reflector/reflector-plan.ts';
import { PODS, resourceLabel } from '#shared/kube/resource.ts';
import { backoffDelay } from '#shared/runtime/repeat.ts';
import { MAX_DELAY_MS, forwardAbort, NOT_ABORTED } from '#shared/runtime/clock.ts';
import { latestRevision, loadUnlisted, isRelistDue, watchPods } from './pod-list.ts';
import { LOG } from '#webhook/messages.ts';

export interface PodInformerOptions extends ClientContext {
  /** Resource names that any quota limits, in a stable order; if empty, nothing is read from the API server. */
  readonly chargedNames: () => readonly string[];
  /**
   * Whether the view has every namespace in which quotas are enforced according to storage. Rejects if the namespaces
   * cannot be read.
   */
  readonly areNamespacesKnown: (signal: AbortSignal) => Promise<boolean>;
}

const CHECK_EVERY_MS = 1_000;
/** Minimum interval between proofs, which also never take more than 1/50 of the time. */
const PROVE_EVERY_MS = 1_000;
const PAUSES_PER_PROOF = 50;
const PAGE_SIZE = 500;
/**
 * kube-apiserver sends a bookmark two seconds before a watch ends: a short watch soon reports the server's revision.
 */
const SHORT_WATCH_SECONDS = 3;

/**
 * Keeps a view of the pods in namespaces with quotas. An epoch is a watch from the latest revision on, with lists of all
 * namespaces in parallel. A new epoch begins when the watch cannot continue, when quotas limit other resources, and
 * when `isRelistDue`.
 */
export class PodInformer {
  readonly view = new PodView();
  readonly #proof = new ViewProof();
  readonly #options: PodInformerOptions;
  readonly #metrics: ReflectorMetrics;
  readonly #pageSize = createPageSize(PAGE_SIZE);
  readonly #listeners = new Set<() => void>();
  /** Start of the current epoch. */
  #begunAt = 0;
  #isListed = false;
  /** How long its lists took, or those of the previous epoch. */
  #listMs: number | undefined;
  #watch = new AbortController();
  #epoch = new AbortController();
  /** When the next proof may be requested; infinite while one is in progress. */
  #nextProofAt = -Infinity;
  #wakeLoader: () => void = () => undefined;

  constructor(options: PodInformerOptions) {
    this.#options = options;
    this.#metrics = reflectorMetrics(options.metrics, resourceLabel(PODS), options.clock);
  }

  /** The monotonic time as of which the view is proven complete. */
  get provenAt(): number {
    return this.#proof.provenAt;
  }

  /** Calls back whenever the view may have advanced. */
  onAdvance(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Notifies that namespaces were added or removed. */
  namespacesChanged(): void {
    this.#wakeLoader();
    this.#advanced();
  }

  /**
   * Requests a proof that the view is current, unless one is in progress or was just made; a later advance may complete
   * it.
   */
  prove(): void {
    const now = this.#options.clock.monotonic();
    if (this.#proof.awaitedSince !== undefined || now < this.#nextProofAt) return;
    this.#nextProofAt = Infinity;
    this.#askForProof(now)
      .catch((error: unknown) => this.#warn(error, LOG.podViewUnverified))
      .finally(() => this.#pauseProofs(now));
  }

  #pauseProofs(askedAt: number): void {
    const now = this.#options.clock.monotonic();
    this.#nextProofAt = now + Math.max(PROVE_EVERY_MS, PAUSES_PER_PROOF * (now - askedAt));
  }

  /** Never rejects, and ends only with `signal`. */
  async run(signal: AbortSignal): Promise<void> {
    const { chargedNames, clock, random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const isNeeded = chargedNames().length > 0;
      failures = !isNeeded || (await this.#runEpoch(signal)) ? 0 : failures + 1;
      const pauseMs = failures === 0 ? 0 : backoffDelay(PROMPT_BACKOFF, failures - 1, random());
      await clock.sleep(isNeeded ? pauseMs : CHECK_EVERY_MS, signal);
    }
  }

  /** Resolves at the end of the epoch with whether it ever began. */
  async #runEpoch(signal: AbortSignal): Promise<boolean> {
    const { client, clock, chargedNames } = this.#options;
    const epoch = new AbortController();
    this.#epoch = epoch;
    const release = forwardAbort(signal, epoch);
    try {
      const names = chargedNames();
      this.view.begin(await latestRevision(client, signal), names);
      this.#begunAt = clock.monotonic();
      this.#isListed = false;
      await Promise.all([this.#follow(epoch), this.#load(epoch.signal), this.#endWhenDue(epoch)]);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#warn(error, LOG.podWatchFailed);
      return false;
    } finally {
      epoch.abort();
      release();
    }
  }

  /** Watches until only a new list helps; then the epoch ends. */
  async #follow(epoch: AbortController): Promise<void> {
    let plan: Plan = { step: 'watch', failures: 0, retryAfterMs: 0 };
    while (plan.step === 'watch' && !epoch.signal.aborted) {
      const reading = await this.#watchOnce(epoch.signal);
      if (reading !== undefined) plan = planAfter(reading, plan.failures, false);
      if (reading !== undefined && isFailure(reading)) await this.#pause(plan, reading, epoch.signal);
    }
    epoch.abort();
  }

  /** `undefined` if we ended it ourselves. */
  async #watchOnce(signal: AbortSignal): Promise<EndedReading | undefined> {
    this.#metrics.began('watch');
    const watch = new AbortController();
    this.#watch = watch;
    const release = forwardAbort(signal, watch);
    const reading = await watchPods({ ...this.#options, ...this.#watching() }, watch.signal);
    release();
    return watch.signal.aborted ? undefined : reading;
  }

  #watching() {
    return {
      view: this.view,
      onActivity: (): void => this.#advanced(),
      watchSeconds: () => (this.#proof.awaitedSince === undefined ? undefined : SHORT_WATCH_SECONDS),
    };
  }

  /** Lists all unlisted namespaces, now and whenever new ones appear. */
  async #load(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      if (this.view.isWhole) await this.#untilWoken(signal);
      else if (await this.#loadSome(signal)) failures = 0;
      else await clock.sleep(backoffDelay(PROMPT_BACKOFF, failures++, random()), signal);
    }
  }

  async #loadSome(signal: AbortSignal): Promise<boolean> {
    const { client, clock } = this.#options;
    this.#metrics.began('list');
    const pages = await loadUnlisted({ client, clock, view: this.view, pageSize: this.#pageSize }, signal);
    if (pages.kind === 'read') this.#listed();
    else if (!signal.aborted) this.#options.log.warn({ ending: pages }, LOG.podListFailed);
    return pages.kind === 'read';
  }

  #listed(): void {
    if (this.view.isWhole && !this.#isListed) {
      this.#isListed = true;
      this.#listMs = this.#options.clock.monotonic() - this.#begunAt;
    }
    this.#advanced();
  }

  async #untilWoken(signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const release = forwardAbort(signal, woken);
    this.#wakeLoader = () => woken.abort();
    await this.#options.clock.sleep(MAX_DELAY_MS, woken.signal);
    release();
  }

  /** Ends the epoch when the next one is due. */
  async #endWhenDue(epoch: AbortController): Promise<void> {
    const { clock, random, chargedNames } = this.#options;
    const spread = random();
    while (!epoch.signal.aborted) {
      await clock.sleep(CHECK_EVERY_MS, epoch.signal);
      const [now, { awaitedSince }] = [clock.monotonic(), this.#proof];
      const isOutdated = chargedNames().some((name) => !this.view.names.includes(name));
      const times = { now, begunAt: this.#begunAt, listMs: this.#listMs, awaitedSince };
      if (isOutdated || isRelistDue(times, spread)) epoch.abort();
    }
  }

  /**
   * Checks the namespaces first: a pod in a namespace with quotas that the view does not have would be missing, however
   * current the watch.
   */
  async #askForProof(askedAt: number): Promise<void> {
    const { client, areNamespacesKnown } = this.#options;
    if (!(await areNamespacesKnown(NOT_ABORTED))) return;
    const { position } = this.view;
    const revision = await latestRevision(client, NOT_ABORTED);
    // Storage was restored from a backup. A watch that waits for the lost revisions says nothing about that.
    if (revision < position) {
      this.#epoch.abort();
      return;
    }
    this.#proof.await(askedAt, revision, this.view);
    if (this.#proof.awaitedSince === undefined) this.#advanced();
    else this.#watch.abort();
  }

  #advanced(): void {
    this.#metrics.onActivity();
    this.#proof.update(this.view);
    for (const listener of this.#listeners) listener();
  }

  async #pause(plan: Plan, { ending }: EndedReading, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { clock, random, log } = this.#options;
    const delayMs = Math.max(plan.retryAfterMs, backoffDelay(PROMPT_BACKOFF, plan.failures - 1, random()));
    this.#metrics.restarted(ending.kind);
    log.warn({ ending, next: plan.step, delayMs }, LOG.podWatchInterrupted);
    await clock.sleep(delayMs, signal);
  }

  #warn(error: unknown, what: string): void {
    this.#options.log.warn({ err: error }, what);
  }
}
