import type { Log } from './log.ts';

const MAX_REMEMBERED = 1_000;

/** Logs a fault when it begins, when it becomes another one, and when it is over: not at each attempt. */
export interface FaultLog {
  /** `object` says what is attempted on; `kind` tells faults apart, its message may differ from attempt to attempt. */
  readonly failed: (object: string, fault: { readonly kind: string; readonly message: string }) => void;
  readonly worked: (object: string) => void;
}

/** `what` is the line in the log: `Status of the DisruptionPolicy not written`. */
export function createFaultLog(log: Pick<Log, 'warn' | 'info'>, what: string): FaultLog {
  const kinds = new Map<string, string>();
  return {
    failed: (object, { kind, message }) => {
      if (kinds.get(object) === kind) return;
      if (kinds.size >= MAX_REMEMBERED) kinds.clear();
      kinds.set(object, kind);
      log.warn({ object, fault: kind, message }, what);
    },
    worked: (object) => {
      if (kinds.delete(object)) log.info({ object }, `${what}: resolved`);
    },
  };
}
