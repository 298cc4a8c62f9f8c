import { describeError, errorText } from './describe-error.ts';
import type { Log } from './log.ts';

/** Further objects with a fault share one line: a thousand failing pods must not flood the log. */
const MAX_REMEMBERED = 1_000;

/** Logs a fault when it begins, when it becomes another one, and when it is over: not at each attempt. */
export interface FaultLog {
  /** `object` says what is attempted on; `kind` tells faults apart, its message may differ from attempt to attempt. */
  readonly failed: (object: string, fault: { readonly kind: string; readonly message: string }) => void;
  readonly threw: (object: string, error: unknown) => void;
  /** The outcome of a request: a success, or a failure with its message. */
  readonly answered: (object: string, outcome: { readonly kind: string; readonly message?: string }) => void;
  readonly worked: (object: string) => void;
}

type Lines = Pick<Log, 'warn' | 'info'>;

const FAULT_LOGS = new WeakMap<Lines, Map<string, FaultLog>>();

/** The fault log of a line, such as `Status of the DisruptionPolicy not written`; the same at each call. */
export function faultLog(log: Lines, what: string): FaultLog {
  const known = FAULT_LOGS.get(log) ?? new Map<string, FaultLog>();
  FAULT_LOGS.set(log, known);
  const found = known.get(what) ?? createFaultLog(log, what);
  known.set(what, found);
  return found;
}

function createFaultLog(log: Lines, what: string): FaultLog {
  const kinds = new Map<string, string>();
  let isFull = false;
  function note(object: string, kind: string, fields: object): void {
    if (kinds.get(object) === kind) return;
    if (kinds.has(object) || kinds.size < MAX_REMEMBERED) {
      kinds.set(object, kind);
      log.warn({ object, fault: kind, ...fields }, what);
    } else if (!isFull) {
      isFull = true;
      log.warn({ objects: kinds.size }, `${what}: further objects are not logged`);
    }
  }
  function failed(object: string, { kind, message }: { readonly kind: string; readonly message?: string }): void {
    note(object, kind, { message });
  }
  function worked(object: string): void {
    if (!kinds.delete(object)) return;
    isFull = false;
    log.info({ object }, `${what}: resolved`);
  }
  return {
    failed,
    threw: (object, error) => note(object, kindOf(error), { err: error }),
    answered: (object, outcome) => (outcome.kind === 'ok' ? worked(object) : failed(object, outcome)),
    worked,
  };
}

/** Numbers, such as a resourceVersion or a time, make no other fault. */
function kindOf(error: unknown): string {
  const { type, code } = describeError(error);
  return code ?? `${type}: ${errorText(error).replaceAll(/\d+/g, '0')}`;
}

/** For `repeat`: the faults of its rounds. */
export function reportRounds(log: Lines, what: string, object = 'pass') {
  const faults = faultLog(log, what);
  return {
    onError: (error: unknown): void => faults.threw(object, error),
    onDone: (): void => faults.worked(object),
  };
}
