import type { PodView } from './pod-view.ts';

/**
 * Until when a view is proven to show everything, by the clock of this process. A view may lag behind by any time, as
 * after the process was stopped, and does not notice. So the API server is asked which revision it is at, and once the
 * view has reached that, it shows all that had happened when the question was sent.
 */
export class ViewProof {
  #awaited: { readonly askedAt: number; readonly revision: number } | undefined;
  #provenAt = -Infinity;

  /** The monotonic time as of which nothing is missing. */
  get provenAt(): number {
    return this.#provenAt;
  }

  /** Since when a proof is waited for; `undefined` where none is. */
  get awaitedSince(): number | undefined {
    return this.#awaited?.askedAt;
  }

  /** The API server was asked at this time, and answered with this revision of the pods. */
  await(askedAt: number, revision: number, view: Pick<PodView, 'isWhole' | 'position'>): void {
    this.#awaited = { askedAt, revision };
    this.update(view);
  }

  /** The view has moved on. */
  update({ isWhole, position }: Pick<PodView, 'isWhole' | 'position'>): void {
    if (this.#awaited === undefined || !isWhole || position < this.#awaited.revision) return;
    this.#provenAt = Math.max(this.#provenAt, this.#awaited.askedAt);
    this.#awaited = undefined;
  }
}
