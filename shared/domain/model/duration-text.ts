const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** How long ago a time in milliseconds was, as kubectl prints ages; `<unknown>` without a time. */
export function ageText(at: number | undefined, now: number): string {
  return at === undefined ? '<unknown>' : durationText(Math.floor((now - at) / 1000));
}

/** Seconds as people read them, the longer the coarser: `3d4h`, `5m`. `apimachinery/pkg/util/duration`. */
export function durationText(seconds: number): string {
  if (seconds < -1) return '<invalid>';
  if (seconds < 2 * MINUTE) return `${Math.max(0, seconds)}s`;
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(Math.floor(seconds / MINUTE), 60, 'h', 'm');
  return longDurationText(seconds);
}

function longDurationText(seconds: number): string {
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(Math.floor(seconds / HOUR), 24, 'd', 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  return seconds < 8 * YEAR ? two(Math.floor(seconds / DAY), 365, 'y', 'd') : `${Math.floor(seconds / YEAR)}y`;
}

function two(value: number, size: number, large: string, small: string): string {
  const rest = value % size;
  return rest === 0 ? `${Math.floor(value / size)}${large}` : `${Math.floor(value / size)}${large}${rest}${small}`;
}
