import type { PodView } from './pod-view.ts';

/**
 * The time up to which a view is proven complete, by the clock of this process. A view may lag by any time without
 * noticing, for example after the process was paused. So the API server is asked for its current revision, and once the
 * view has reached it, the view includes everything that had happened when the request was sent.
 */
export class ViewProof {
  #awaited: { readonly askedAt: number; readonly revision: number } | undefined;
  #provenAt = -Infinity;

  /** The monotonic time up to which nothing is missing. */
  get provenAt(): number {
    return this.#provenAt;
  }

  /** Since when a proof is awaited; `undefined` if none is. */
  get awaitedSince(): number | undefined {
    return this.#awaited?.askedAt;
  }

  /** Records that the API server, asked at this time, answered with this revision of the pods. */
  await(askedAt: number, revision: number, view: Pick<PodView, 'isWhole' | 'position'>): void {
    this.#awaited = { askedAt, revision };
    this.update(view);
  }

  /** Updates the proof after the view has advanced. */
  update({ isWhole, position }: Pick<PodView, 'isWhole' | 'position'>): void {
    if (this.#awaited === undefined || !isWhole || position < this.#awaited.revision) return;
    this.#provenAt = Math.max(this.#provenAt, this.#awaited.askedAt);
    this.#awaited = undefined;
  }
}
