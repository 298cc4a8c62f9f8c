import type { ClientContext } from '#shared/kube/client/client.ts';
import { forwardAbort, untilAborted } from '#shared/runtime/clock.ts';
import type { GaugeMetric } from '#shared/runtime/metrics.ts';
import { repeat, type Repetition } from '#shared/runtime/repeat.ts';
import { type LeaseTerm, newIdentity, runWithLease } from './leader-lease.ts';

/** What a part reads while it leads. */
export interface Source {
  /** Absent if the process runs it anyway. */
  readonly run?: (signal: AbortSignal) => Promise<unknown>;
  /** The passes wait for it. */
  readonly synced?: Promise<unknown>;
}

/** What one part does in one term. */
export interface TermWork {
  readonly sources?: readonly Source[];
  /** Once, after the sources have been read. */
  readonly prepare?: (signal: AbortSignal) => Promise<void>;
  readonly passes: readonly Omit<Repetition, 'clock' | 'random'>[];
  /** At the end of the term, also after a fault. */
  readonly end?: () => Promise<void> | void;
}

/** A part of a process that works on one replica at a time. */
export interface ControllerPart {
  readonly name: string;
  /**
   * A Lease that stands for this part alone. It is held besides the Lease of the process, so that processes of another
   * version, or with other parts, never lead this part at the same time.
   */
  readonly lease?: string;
  readonly leader?: GaugeMetric;
  /** The signal aborts with the term, or after a fault of the part. */
  readonly begin: (term: LeaseTerm, signal: AbortSignal) => TermWork;
}

export interface ControllerOptions extends Omit<ClientContext, 'metrics'> {
  readonly lease: { readonly name: string; readonly namespace: string };
  readonly leader?: GaugeMetric;
  readonly parts: readonly ControllerPart[];
}

/** How long a pass, and a part at the end of a term, may ignore its signal. */
const GRACE_MS = 30_000;
const RESTART_MS = 2_000;
/** Renewed rarely, because the Lease of the process decides when a leader has failed. */
const PART_LEASE = { durationMs: 60_000, renewDeadlineMs: 40_000, retryMs: 15_000, isWatched: false } as const;

/**
 * Runs the parts on the replica that holds the lease, until `signal` aborts. A part that fails begins again, and the
 * others go on. A part that hangs ends the term, so that another replica can run it; here it does not begin again
 * before it has ended. Never rejects.
 */
export async function runController(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const { lease, leader, parts } = options;
  if (parts.length === 0) return;
  leader?.set(0);
  for (const part of parts) part.leader?.set(0);
  const hanging = new Set<ControllerPart>();
  const lead = async (leading: AbortSignal, term: LeaseTerm): Promise<void> => {
    const ending = new AbortController();
    const endTerm = (): void => {
      ending.abort();
    };
    const unlink = forwardAbort(leading, ending);
    leader?.set(1);
    const parted = { ...options, term, hanging, endTerm };
    await Promise.all(parts.map((part) => leadPart(part, parted, ending.signal)));
    leader?.set(0);
    unlink();
  };
  await runWithLease({ ...options, ...lease, identity: newIdentity(), lead }, signal);
}

interface Term extends ControllerOptions {
  readonly term: LeaseTerm;
  readonly hanging: Set<ControllerPart>;
  readonly endTerm: () => void;
}

/** Resolves at the end of the term, even if the part does not end. */
async function leadPart(part: ControllerPart, term: Term, signal: AbortSignal): Promise<void> {
  const { hanging, clock, log } = term;
  if (hanging.has(part)) {
    log.error({ part: part.name }, 'Part left out: its last term has not ended here');
    await untilAborted(signal);
    return;
  }
  hanging.add(part);
  const ended = leadWithOwnLease(part, term, signal).then(() => hanging.delete(part));
  if (await isInTime(ended, clock, signal)) return;
  part.leader?.set(0);
  log.error({ part: part.name }, 'Part does not end with its term');
}

function leadWithOwnLease(part: ControllerPart, term: Term, signal: AbortSignal): Promise<void> {
  const { lease } = term;
  if (part.lease === undefined || part.lease === lease.name) return keepWorking(part, term, signal);
  // The next leader of the process takes this Lease over at once.
  const identity = `${lease.namespace}/${lease.name}`;
  const lead = (leading: AbortSignal, own: LeaseTerm): Promise<void> =>
    keepWorking(part, { ...term, term: bothHeld(term.term, own) }, leading);
  return runWithLease({ ...term, ...PART_LEASE, name: part.lease, namespace: lease.namespace, identity, lead }, signal);
}

function bothHeld(process: LeaseTerm, part: LeaseTerm): LeaseTerm {
  return { ...part, isHeld: () => process.isHeld() && part.isHeld() };
}

/** Begins the part again after a fault. */
async function keepWorking(part: ControllerPart, term: Term, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const attempt = new AbortController();
    const unlink = forwardAbort(signal, attempt);
    try {
      await work(part, term, attempt.signal);
    } catch (error) {
      term.log.error({ err: error, part: part.name }, 'Part failed');
    }
    part.leader?.set(0);
    unlink();
    attempt.abort();
    await term.clock.sleep(RESTART_MS, signal);
  }
}

async function work(part: ControllerPart, term: Term, signal: AbortSignal): Promise<void> {
  const { sources = [], prepare, passes, end } = part.begin(term.term, signal);
  part.leader?.set(1);
  const passing = async (): Promise<void> => {
    await Promise.race([Promise.all(sources.flatMap(({ synced }) => synced ?? [])), untilAborted(signal)]);
    await prepare?.(signal);
    await Promise.all(passes.map((pass) => repeat(bounded(pass, part, term), signal)));
  };
  try {
    await Promise.all([passing(), ...sources.map((source) => source.run?.(signal) ?? Promise.resolve())]);
  } finally {
    await end?.();
  }
}

/** The pass; one that ignores its deadline ends the term. */
function bounded(pass: TermWork['passes'][number], { name }: ControllerPart, term: Term): Repetition {
  const { clock, random, log, endTerm } = term;
  const task = async (signal: AbortSignal): Promise<void> => {
    const ended = pass.task(signal);
    if (!(await isInTime(ended, clock, signal))) {
      log.error({ part: name, deadlineMs: pass.deadlineMs }, 'Pass does not end; another replica may take over');
      endTerm();
    }
    await ended;
  };
  return { ...pass, task, clock, random };
}

/** Whether the work ends before `signal` aborts or soon after. Rejects if the work does. */
async function isInTime(
  ended: Promise<unknown>,
  clock: ControllerOptions['clock'],
  signal: AbortSignal,
): Promise<boolean> {
  const settled = new AbortController();
  const late = untilEither(signal, settled.signal)
    .then(() => clock.sleep(GRACE_MS, settled.signal))
    .then(() => false);
  try {
    return await Promise.race([ended.then(() => true), late]);
  } finally {
    settled.abort();
  }
}

async function untilEither(one: AbortSignal, other: AbortSignal): Promise<void> {
  const either = new AbortController();
  const unlinks = [one, other].map((signal) => forwardAbort(signal, either));
  await untilAborted(either.signal);
  for (const unlink of unlinks) unlink();
}
