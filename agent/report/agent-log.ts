import type { Because } from '#shared/domain/model/because.ts';
import type { EvictionMessage } from '#shared/domain/eviction/eviction-message.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import type { Eviction } from '#agent/decide/eviction.ts';
import type { PassResult } from '#agent/decide/decide.ts';
import { LOG } from '#agent/messages.ts';

/** The decision log: one line for each change, with the numbers behind it. */
export interface AgentLog {
  readonly showPass: (result: PassResult) => void;
  /** Logs when the fallback source comes into use or is dropped. */
  readonly showFallback: (because: Because | undefined) => void;
  readonly showOutcome: (eviction: Eviction, outcome: AttemptOutcome, message: EvictionMessage) => void;
}

function codes(becauses: readonly Because[]): string {
  return becauses.map(({ code }) => code).join(',');
}

export function createAgentLog(log: Log): AgentLog {
  let shortage = '';
  let closedGates = '';
  let fallback = '';

  function showShortage({ trigger }: PassResult['decision']['assessment']): void {
    const now = trigger === undefined ? '' : `${trigger.signal} ${trigger.stage}`;
    if (now === shortage) return;
    shortage = now;
    if (trigger === undefined) log.info(LOG.resolved);
    else log.warn({ because: trigger.because, stage: trigger.stage, mode: trigger.mode }, LOG.underPressure);
  }

  function showClosedGates({ trigger, closedGates: current }: PassResult['decision']['assessment']): void {
    const now = trigger === undefined ? '' : codes(current);
    if (now === closedGates) return;
    closedGates = now;
    if (now !== '') log.info({ holds: current }, LOG.heldBack);
  }

  function showFallback(because: Because | undefined): void {
    const now = because?.text ?? '';
    if (now === fallback) return;
    fallback = now;
    if (because === undefined) log.info(LOG.kernelBack);
    else log.warn({ because }, LOG.usingKubelet);
  }

  function showPass({ decision: { assessment } }: PassResult): void {
    showShortage(assessment);
    showClosedGates(assessment);
  }

  function showOutcome(eviction: Eviction, outcome: AttemptOutcome, { text }: EvictionMessage): void {
    const { pod, signal, stage, mode, graceSeconds, because } = eviction;
    const facts = {
      pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
      signal,
      stage,
      mode,
      graceSeconds,
    };
    log.info(
      { ...facts, outcome, because, message: text },
      mode === 'DryRun' ? LOG.evictionPretended : LOG.evictionAnswered,
    );
  }
  return { showPass, showFallback, showOutcome };
}
