import { Ledger } from '#shared/domain/quota/ledger/ledger.ts';
import type { LedgerVersion } from '#shared/domain/quota/replica/apply-batch.ts';
import { countOf, type CountedPod } from '#test/build/pod-count.ts';
import type { Lifetime, ModelApiServer } from './model-api-server.ts';

const NOTHING_ELSE = { isExact: true, isExpired: () => false, isDead: () => false };

/**
 * A replica of the version before views, as it counts: it reads the ledger, lists all pods from storage, and writes the
 * count when no other was made since it began. It does not say from what it counted.
 */
export class ModelEarlierReplica {
  readonly #api: ModelApiServer;
  readonly #lifetime: Lifetime = { isAlive: true, cutOffUntil: 0, stoppedUntil: 0 };
  #isCounting = false;

  constructor(api: ModelApiServer) {
    this.#api = api;
  }

  async recount(): Promise<void> {
    if (this.#isCounting) return;
    this.#isCounting = true;
    const begun = await this.#read();
    const pods = await this.#api.call(this.#lifetime, () => [...this.#api.pods.values()]);
    const now = await this.#read();
    if (begun !== undefined && pods !== undefined && now !== undefined && isSameCount(now, begun))
      await this.#write(now, pods);
    this.#isCounting = false;
  }

  #read(): Promise<LedgerVersion | undefined> {
    return this.#api.call(this.#lifetime, () => this.#api.stored());
  }

  #write(base: LedgerVersion, pods: readonly CountedPod[]): Promise<unknown> {
    const { hard } = base.quota;
    const ledger = new Ledger(base.state, hard);
    ledger.recount(countOf(hard, pods), NOTHING_ELSE);
    return this.#api.call(this.#lifetime, () => this.#api.recountAsEarlier(base, ledger.state()));
  }
}

function isSameCount(now: LedgerVersion, begun: LedgerVersion): boolean {
  return now.recounts === begun.recounts && now.generation === begun.generation;
}
