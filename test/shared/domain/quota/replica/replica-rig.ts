import type { LedgerEffect, LedgerEvent } from '#shared/domain/quota/replica/event.ts';
import type { LedgerVersion, PendingReservation } from '#shared/domain/quota/replica/apply-batch.ts';
import { createReplica, type ReplicaSettings } from '#shared/domain/quota/replica/replica.ts';
import { step } from '#shared/domain/quota/replica/step.ts';
import {
  EMPTY_LEDGER,
  type LedgerState,
  type Reservation,
  type Slice,
} from '#shared/domain/quota/ledger/ledger-state.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf, type CountedPod } from '#test/build/pod-count.ts';
import { quota } from '#test/shared/domain/quota/view/view-builders.ts';

export const HOLDER = 'me';
export const SETTINGS: ReplicaSettings = {
  holder: HOLDER,
  sliceAfterMs: 0,
  sliceLifeMs: 10_000,
  reservationMs: 120_000,
};

export function reservation(uid: string, memory = '1Gi', more: Partial<Reservation> = {}): Reservation {
  return {
    uid,
    namespace: 'a',
    pod: uid,
    amounts: amountsOf({ memory }),
    admittedAt: 0,
    claim: `of ${uid}`,
    ...more,
  };
}

export function pendingOf(uid: string, memory = '1Gi', more: Partial<PendingReservation> = {}): PendingReservation {
  return { reservation: reservation(uid, memory), isDryRun: false, giveUpAt: Infinity, ...more };
}

export function sliceOf(holder: string, memory: string, more: Partial<Slice> = {}): Slice {
  return { holder, amounts: amountsOf({ memory }), renewals: 1, recallRequested: false, ...more };
}

/** A ledger whose `used` is what its reservations and slices hold. */
export function stateOf(
  memory: string,
  reservations: readonly Reservation[] = [],
  slices: readonly Slice[] = [],
): LedgerState {
  return {
    ...EMPTY_LEDGER,
    used: amountsOf({ memory }),
    reservations: new Map(reservations.map((each) => [each.uid, each])),
    slices: new Map(slices.map((each) => [each.holder, each])),
  };
}

/** A counted ledger with room for 1000Gi. */
export function versionOf(more: Partial<LedgerVersion> & { readonly memory?: string } = {}): LedgerVersion {
  const { memory = '1000Gi', ...fields } = more;
  return {
    uid: 'u',
    generation: 1,
    revision: '1',
    quota: quota({ hard: amountsOf({ memory }) }),
    state: stateOf('0'),
    isCounted: true,
    recounts: 0,
    counted: undefined,
    ...fields,
  };
}

export type ReplicaRig = ReturnType<typeof createReplicaRig>;

/** One replica, event by event; the test sets the time, the cache and the view of the pods. */
export function createReplicaRig(settings: Partial<ReplicaSettings> = {}) {
  const rig = {
    now: { monotonic: 0, wall: 0 },
    observed: { uid: 'u', generation: 1, slices: new Map<string, Slice>() },
    pods: [] as CountedPod[],
    isFilled: true,
    provenAt: -Infinity,
    reached: { pods: Infinity, namespaces: Infinity } as ViewRevision,
    gone: new Set<string>(),
    replica: createReplica({ ...SETTINGS, ...settings }, { monotonic: 0, wall: 0 }),
    send,
    at,
    tick: (random = 0.5) => send({ kind: 'ticked', random }),
    observe: () => send({ kind: 'observed' }),
    ask: (pending: PendingReservation) => send({ kind: 'asked', pending }),
    read: (version: LedgerVersion) => send({ kind: 'read', result: { kind: 'read', version } }),
  };

  function send(event: LedgerEvent): readonly LedgerEffect[] {
    const { now, observed, provenAt } = rig;
    const view = {
      provenAt,
      isNameTaken: () => false,
      isGone: (uid: string) => rig.gone.has(uid),
      count: ({ quota: { hard } }: LedgerVersion) =>
        rig.isFilled
          ? { ...countOf(hard, rig.pods), reached: rig.reached, holds: { pods: 7, namespaces: 7 } }
          : undefined,
    };
    return step(rig.replica, event, { now, observed, view });
  }

  /** Sets both clocks. */
  function at(ms: number): typeof rig {
    rig.now = { monotonic: ms, wall: ms };
    return rig;
  }
  return rig;
}

export function kindsOf(effects: readonly LedgerEffect[]): readonly string[] {
  return effects.map(({ kind }) => kind);
}

/** A replica that is writing these reservations over a ledger that it has just read. */
export function writing(uids: readonly string[]): ReplicaRig {
  const rig = createReplicaRig();
  rig.tick();
  rig.read(versionOf());
  for (const uid of uids) rig.ask(pendingOf(uid));
  rig.send({ kind: 'due' });
  return rig;
}

/** The UIDs of the reservations in what is written. */
export function writtenUids(effects: readonly LedgerEffect[]): readonly string[] {
  return effects.flatMap((each) => (each.kind === 'write' ? [...each.write.state.reservations.keys()] : []));
}

/** The answers in a few words: `a reserved`. */
export function answersIn(effects: readonly LedgerEffect[]): readonly string[] {
  return effects.flatMap((each) =>
    each.kind === 'answer' ? [`${each.pending.reservation.uid} ${each.result.kind}`] : [],
  );
}

/** Effects in a few words: `answer a reserved`, `charged slice`. */
export function print(effects: readonly LedgerEffect[]): readonly string[] {
  return effects.map((each) => {
    if (each.kind === 'answer') return `answer ${each.pending.reservation.uid} ${each.result.kind}`;
    if (each.kind === 'charged') return `charged ${each.path}`;
    return each.kind === 'recounted' ? `recounted ${each.result}` : each.kind;
  });
}

/** The state that is written. */
export function writtenState(effects: readonly LedgerEffect[]): LedgerState {
  const [state] = effects.flatMap((each) => (each.kind === 'write' ? [each.write.state] : []));
  if (state === undefined) throw new Error('nothing is written');
  return state;
}

/** Answers a write as an API server that stores it. */
export function store(
  rig: ReplicaRig,
  effects: readonly LedgerEffect[],
  revision: string,
  more: Partial<LedgerVersion> = {},
) {
  const version = versionOf({ revision, state: writtenState(effects), ...more });
  return rig.send({ kind: 'wrote', result: { kind: 'written', version } });
}

/** Asks for a reservation, and what comes of it at once. */
export function request(rig: ReplicaRig, pending: PendingReservation): readonly LedgerEffect[] {
  rig.ask(pending);
  return rig.send({ kind: 'due' });
}
