import { isRecord } from '#shared/kube/decode/wire-object.ts';

/** What Plimsoll's scheduler process changed in a proposed preemption. */
export interface ReviewedPreemption {
  /** `namespace/name` of the pending pod. */
  readonly pod: string;
  readonly node: string;
  readonly verdict: 'changed' | 'removed';
  /** The reason as a sentence. */
  readonly text: string;
}

export interface SchedulerFollower {
  /** Reads one line of the log, JSON. */
  readonly onLine: (line: string) => void;
  /** Where the extender answers, once it has read the cluster. */
  readonly extenderUrl: () => Promise<string | undefined>;
}

interface Ports {
  readonly port: number;
  readonly healthPort: number;
}

const HOST = '127.0.0.1';
const READY_TIMEOUT_MS = 1_000;

/** Reads from the log of the process where it listens and what it decided: it uses free ports and writes no objects. */
export function followScheduler(onReview: (review: ReviewedPreemption) => void): SchedulerFollower {
  let ports: Ports | undefined;
  return {
    onLine(line) {
      const entry = parseLine(line);
      ports ??= portsOf(entry);
      const review = reviewOf(entry);
      if (review !== undefined) onReview(review);
    },
    extenderUrl: async () =>
      ports !== undefined && (await isReady(ports)) ? `http://${HOST}:${ports.port}` : undefined,
  };
}

type LogEntry = Readonly<Record<string, unknown>>;

function parseLine(line: string): LogEntry {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) ? entry : {};
  } catch {
    return {};
  }
}

function portsOf({ port, healthPort }: LogEntry): Ports | undefined {
  return typeof port === 'number' && typeof healthPort === 'number' ? { port, healthPort } : undefined;
}

function reviewOf({ pod, node, verdict, text }: LogEntry): ReviewedPreemption | undefined {
  if (typeof pod !== 'string' || typeof node !== 'string' || typeof text !== 'string') return undefined;
  return verdict === 'changed' || verdict === 'removed' ? { pod, node, verdict, text } : undefined;
}

async function isReady({ healthPort }: Ports): Promise<boolean> {
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  const answer = await fetch(`http://${HOST}:${healthPort}/readyz`, { signal }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok === true;
}
