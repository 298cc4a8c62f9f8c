import type { Debit } from '#shared/domain/disruption/account.ts';
import type { LimitStatus, WindowStatus } from '#shared/domain/disruption/limit-status.ts';
import { windowText } from './disruption-limit.ts';
import { present, timeText } from './encode-fields.ts';

/** The status of a DisruptionLimit as a merge patch: what is absent now is removed. */
export function encodeLimitStatus({ windows, debits, minAvailable = null, ...counts }: Nullable): object {
  return { ...counts, minAvailable, windows: windows.map(encodeWindow), debits: debits.map(encodeShown) };
}

type Nullable = Omit<LimitStatus, 'minAvailable'> & { readonly minAvailable?: number | null | undefined };

function encodeWindow({ windowMs, roomAt, ...counts }: WindowStatus): object {
  return present({
    window: windowText(windowMs),
    ...counts,
    roomAt: roomAt === undefined ? undefined : timeText(roomAt),
  });
}

function encodeShown({ uid, pod, at, component, cause, caller, overran }: Debit): object {
  return present({ uid, pod, at: timeText(at), component, cause, caller, overran });
}
