import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentMetrics } from './report/agent-metrics.ts';
import type { PassRunner } from './pass.ts';
import type { PassResult } from './decide/pass-result.ts';

export interface PassLoop {
  readonly passRunner: Pick<PassRunner, 'pass' | 'periodMs'>;
  readonly metrics: Pick<AgentMetrics, 'noteLateness' | 'notePass'>;
  readonly passed: (result: PassResult) => void;
  readonly onError: (error: unknown) => void;
  readonly clock: Clock;
}

/** Runs passes until the signal aborts and measures their delay; an error ends one pass, not the process. */
export async function runPasses(
  { passRunner, metrics, passed, onError, clock }: PassLoop,
  signal: AbortSignal,
): Promise<void> {
  let dueAt = clock.monotonic();
  while (!signal.aborted) {
    const beganAt = clock.monotonic();
    metrics.noteLateness(Math.max(0, beganAt - dueAt) / 1000);
    try {
      passed(passRunner.pass(signal));
    } catch (error) {
      onError(error);
    }
    metrics.notePass((clock.monotonic() - beganAt) / 1000);
    dueAt = beganAt + passRunner.periodMs();
    await clock.sleep(Math.max(0, dueAt - clock.monotonic()), signal);
  }
}
