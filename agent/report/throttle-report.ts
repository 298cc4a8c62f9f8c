import type { ThrottledEntry } from '#shared/api/node-pressure.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { type EventRecorder, podReference } from '#shared/kube/events/event-recorder.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import type { Log } from '#shared/runtime/log.ts';
import { EVENTS, LOG } from '#agent/messages.ts';
import { podOf } from '#agent/resize.ts';

export interface ThrottleReportPorts {
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Tells of CPU limits in the log and as Events of their pods; what fails again and again is logged once. */
export interface ThrottleReport {
  readonly lowered: (entry: ThrottledEntry, note?: string) => void;
  readonly restored: (entry: ThrottledEntry, why: string) => void;
  readonly notRestored: (entry: ThrottledEntry, failure: Failure) => void;
  readonly refused: (entry: ThrottledEntry, failure: Failure) => void;
  /** A change that failed before has been made, or is no longer due. */
  readonly settled: (entry: ThrottledEntry) => void;
}

export function createThrottleReport({ recorder, log }: ThrottleReportPorts): ThrottleReport {
  const faults = faultLog(log, LOG.cpuLimitKept);

  function tell(entry: ThrottledEntry, reason: string, note: string, type: 'Normal' | 'Warning' = 'Normal'): void {
    recorder.record({ regarding: podReference(podOf(entry)), type, reason, note, action: 'Throttling' });
  }

  function changed(entry: ThrottledEntry, reason: string, note: string): void {
    const { pod, container, before, to } = entry;
    log.info({ pod, container, before, to, note }, LOG.cpuLimitChanged);
    tell(entry, reason, note);
  }

  return {
    lowered: (entry, note = entry.because.text) => changed(entry, EVENT_REASONS.cpuLimitLowered, note),
    restored: (entry, why) =>
      changed(entry, EVENT_REASONS.cpuLimitRestored, EVENTS.cpuLimitRestored(entry.before, why)),
    notRestored: (entry, failure) => {
      faults.failed(entry.pod, failure);
      const note = EVENTS.cpuLimitNotRestored(entry.before, failure.message);
      tell(entry, EVENT_REASONS.cpuLimitNotRestored, note, 'Warning');
    },
    refused: (entry, failure) => faults.failed(entry.pod, failure),
    settled: (entry) => faults.worked(entry.pod),
  };
}
