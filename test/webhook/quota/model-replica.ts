import type { ObservedQuota } from '#shared/domain/quota/replica/own-slice.ts';
import { QuotaLedger, type QuotaLedgerOptions } from '#webhook/quota/quota-ledger.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import type { Lifetime, ModelApiServer } from './model-api-server.ts';
import type { ModelTime } from './model-clock.ts';
import { ModelInformer } from './model-informer.ts';
import type { Bug } from './model-options.ts';

export interface Replica {
  readonly ledger: QuotaLedger;
  readonly lifetime: Lifetime;
  readonly informer: ModelInformer;
}

const RESERVATION_MS = 120_000;
const SLICE_LIFE_MS = 10_000;

/** What all replicas of a model share. */
interface ReplicaSetting {
  readonly api: ModelApiServer;
  readonly time: ModelTime;
  readonly random: RandomSource;
  readonly bug: Bug | undefined;
  /** What the caches know of the quota. */
  readonly heard: () => ObservedQuota;
  readonly charged: QuotaLedgerOptions['charged'];
}

/** A replica with a view and a clock of its own; `number` tells it from the others. */
export function startModelReplica(number: number, { api, time, random, bug, heard, charged }: ReplicaSetting): Replica {
  const lifetime: Lifetime = { isAlive: true, cutOffUntil: 0, stoppedUntil: 0 };
  // Every other one, and it takes no slice itself: what is free in that would make up for what it takes from others.
  const isWrong = bug === 'slicesAreTakenBackAtOnce' && number % 2 === 0;
  // Twice as fast would be just right: 120 s of such a clock are the 60 s that a request may take.
  const clock = time.clock({
    offsetMs: random.below(7_200_000) - 3_600_000,
    rate: 0.7 + random.next(),
    isStopped: () => isStopped(lifetime, time),
  });
  const informer = new ModelInformer({
    api,
    lifetime,
    clock,
    random,
    listsHaveHoles: bug === 'listsHaveHoles',
    deletionsAreGuessed: bug === 'deletionsAreGuessed',
    agesAreIgnored: bug === 'agesOfViewsAreIgnored',
    proofsAreForged: bug === 'proofsAreForged',
    namespacesAreIgnored: bug === 'namespacesAreIgnored',
  });
  const ledger = new QuotaLedger({
    store: api.storeFor(lifetime),
    view: informer.ledgerView,
    prove: () => void informer.prove(),
    reservationMs: bug === 'reservationsExpireAtOnce' ? 0 : RESERVATION_MS,
    clock,
    random: random.next,
    holder: `replica-${number}`,
    observed: heard,
    sliceAfterMs: isWrong ? Infinity : random.pick([0, 20_000]),
    // Three of such lives and a reservation's are no time at all.
    sliceLifeMs: isWrong ? -RESERVATION_MS / 3 : SLICE_LIFE_MS,
    charged,
    recounted: () => undefined,
  });
  return { ledger, lifetime, informer };
}

/** Whether the process of a replica does not run now. */
export function isStopped({ stoppedUntil }: Lifetime, time: ModelTime): boolean {
  return time.now() < stoppedUntil;
}
